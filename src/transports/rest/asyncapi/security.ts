import { type EventType, eventOf } from '../../../../packages/core/src/events/list.ts';
import { type Scope, sufficientScopes } from '../../../../packages/core/src/domain/auth/scopes.ts';
import type { Json } from '../openapi/schemas.ts';
import { oauthFlows, tokenDescription } from '../openapi/security.ts';

/** The scopes that each allow this event type; its own scope first. */
export function scopesFor(type: EventType): Scope[] {
  return [...sufficientScopes(eventOf(type).scope), 'realtime:read'];
}

const schemeName = (scope: Scope): string => scope.replace(':', '_');

/** Security requirements: one of these scopes. */
export function anyOf(scopes: readonly Scope[]): Json[] {
  return scopes.map((scope) => ({ $ref: `#/components/securitySchemes/${schemeName(scope)}` }));
}

/** The schemes that `anyOf` refers to. In AsyncAPI 3.0 the required scopes are part of the scheme. */
export function securitySchemes(public_url: string, scopes: readonly Scope[]): Json {
  const flows = oauthFlows(public_url, 'availableScopes');
  return Object.fromEntries(
    scopes.map((scope) => [
      schemeName(scope),
      { type: 'oauth2', description: tokenDescription, flows, scopes: [scope] },
    ]),
  );
}
