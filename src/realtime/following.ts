import type { Actor } from '../domain/actor.ts';
import { DomainError } from '../domain/errors.ts';
import type { Scope } from '../domain/scopes.ts';

/** Any of these shows some events. */
export const following: readonly Scope[] = ['threads:read', 'contacts:read', 'realtime:read'];

/** Whether the token may see events of any kind. */
export function mayFollow({ scopes }: Pick<Actor, 'scopes'>): boolean {
  return following.some((scope) => scopes.has(scope));
}

/** @throws {DomainError} INSUFFICIENT_SCOPE when the token may see no event of any kind (contract, section 4). */
export function requireFollowing(actor: Actor): void {
  if (mayFollow(actor)) return;
  throw new DomainError('INSUFFICIENT_SCOPE', `To follow events, a token needs ${following.join(' or ')}.`, {
    scope: 'realtime:read',
  });
}
