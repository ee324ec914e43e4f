import type { Actor } from '../domain/auth/actor.ts';
import { DomainError } from '../domain/errors.ts';
import type { Scope } from '../domain/auth/scopes.ts';

/** Each of these scopes allows some event types. */
export const feedScopes: readonly Scope[] = ['threads:read', 'contacts:read', 'realtime:read'];

/** Each of these opens a feed: that of the agent, or with `watch=owner` those of its people's agents. */
export const watchScopes: readonly Scope[] = [...feedScopes, 'conversations:read'];

/** @throws {DomainError} INSUFFICIENT_SCOPE when the token may not read the conversations of other agents of its people. */
export function requireOwnerScope({ scopes }: Pick<Actor, 'scopes'>): void {
  if (scopes.has('conversations:read')) return;
  const message = 'watch=owner needs a token with the scope conversations:read.';
  throw new DomainError('INSUFFICIENT_SCOPE', message, { scope: 'conversations:read' });
}

/** Whether the token may see events of at least one type. */
export function hasFeedScope({ scopes }: Pick<Actor, 'scopes'>): boolean {
  return feedScopes.some((scope) => scopes.has(scope));
}

/** @throws {DomainError} INSUFFICIENT_SCOPE when the token may not see any event type. */
export function requireFeedScope(actor: Pick<Actor, 'scopes'>): void {
  if (hasFeedScope(actor)) return;
  throw new DomainError(
    'INSUFFICIENT_SCOPE',
    `This request needs a token with the scope ${feedScopes.join(' or ')}.`,
    {
      scope: 'realtime:read',
    },
  );
}
