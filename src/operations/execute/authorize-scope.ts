import type { Actor } from '../../../packages/core/src/domain/auth/actor.ts';
import { requireScope as requireOne } from '../../../packages/core/src/domain/auth/require-scope.ts';
import type { Operation } from '../define.ts';
import type { Answer, CallContext, Next } from './context.ts';

/** Refuses calls whose token lacks the scope of the operation. @throws {DomainError} INSUFFICIENT_SCOPE */
export async function authorizeScope({ call }: CallContext, next: Next): Promise<Answer> {
  requireScope(call.operation, call.actor);
  return next();
}

/** @throws {DomainError} INSUFFICIENT_SCOPE, with the missing scope; the least powerful one where several are sufficient. */
export function requireScope({ scope, reply }: Operation, { scopes }: Actor): void {
  requireOne(scopes, scope);
  if (reply) requireOne(scopes, 'threads:read');
}
