import { type EventType, eventScopes } from '../../../domain/feed/events.ts';
import { type Scope, sufficientScopes } from '../../../domain/auth/scopes.ts';
import type { Json } from '../openapi/schemas.ts';
import { oauthFlows, tokenDescription } from '../openapi/security.ts';

/** Every scope that alone shows events of this type; the one that is for them is the first. */
export function scopesThatShow(type: EventType): Scope[] {
  return [...sufficientScopes(eventScopes[type]), 'realtime:read'];
}

const schemeName = (scope: Scope): string => scope.replace(':', '_');

/** A token with any one of these scopes will do. */
export function anyOf(scopes: readonly Scope[]): Json[] {
  return scopes.map((scope) => ({ $ref: `#/components/securitySchemes/${schemeName(scope)}` }));
}

/** What `anyOf` refers to. AsyncAPI 3.0 names the scopes that are needed in the scheme itself. */
export function securitySchemes(public_url: string, scopes: readonly Scope[]): Json {
  const flows = oauthFlows(public_url, 'availableScopes');
  return Object.fromEntries(
    scopes.map((scope) => [
      schemeName(scope),
      { type: 'oauth2', description: tokenDescription, flows, scopes: [scope] },
    ]),
  );
}
