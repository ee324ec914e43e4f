import type { Actor } from '../../../packages/core/src/domain/auth/actor.ts';
import { requireScope as requireOne } from '../../../packages/core/src/domain/auth/require-scope.ts';
import type { Operation } from '../define.ts';
import type { Run } from './context.ts';

/** Refuses calls whose token lacks the scope of the operation. @throws {DomainError} INSUFFICIENT_SCOPE */
export function authorizeScope(operation: Operation, next: Run): Run {
  return async (context) => {
    requireScope(operation, context.call.actor);
    return next(context);
  };
}

/** @throws {DomainError} INSUFFICIENT_SCOPE, with the missing scope; the least powerful one where several are sufficient. */
export function requireScope({ scope, reply }: Operation, { scopes }: Pick<Actor, 'scopes'>): void {
  requireOne(scopes, scope);
  if (reply) requireOne(scopes, 'threads:read');
}
