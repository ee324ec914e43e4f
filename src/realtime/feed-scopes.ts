import type { Actor } from '../domain/auth/actor.ts';
import { DomainError } from '../domain/errors.ts';
import type { Scope } from '../domain/auth/scopes.ts';

/** Any of these shows some events. */
export const feedScopes: readonly Scope[] = ['threads:read', 'contacts:read', 'realtime:read'];

/** Whether the token may see events of any kind. */
export function hasFeedScope({ scopes }: Pick<Actor, 'scopes'>): boolean {
  return feedScopes.some((scope) => scopes.has(scope));
}

/** @throws {DomainError} INSUFFICIENT_SCOPE when the token may see no event of any kind (contract, section 4). */
export function requireFeedScope(actor: Actor): void {
  if (hasFeedScope(actor)) return;
  throw new DomainError('INSUFFICIENT_SCOPE', `To follow events, a token needs ${feedScopes.join(' or ')}.`, {
    scope: 'realtime:read',
  });
}
