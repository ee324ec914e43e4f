import type { Actor } from '../../domain/auth/actor.ts';
import { allows, sufficientScopes } from '../../domain/auth/scopes.ts';
import { DomainError } from '../../domain/errors.ts';
import type { Operation } from '../define.ts';
import type { Answer, CallContext, Next } from './context.ts';

/** Refuses calls whose token lacks the scope of the operation. @throws {DomainError} INSUFFICIENT_SCOPE */
export async function authorizeScope({ call }: CallContext, next: Next): Promise<Answer> {
  requireScope(call.operation, call.actor);
  return next();
}

/** @throws {DomainError} INSUFFICIENT_SCOPE, with the missing scope; the least powerful one where several are sufficient. */
export function requireScope(operation: Operation, actor: Actor): void {
  const { scope } = operation;
  if (scope === 'any' || allows(actor.scopes, scope)) return;
  const named =
    typeof scope === 'string' ? scope : new Intl.ListFormat('en', { type: 'disjunction' }).format(scope);
  const [first = ''] = sufficientScopes(scope);
  throw new DomainError('INSUFFICIENT_SCOPE', `This needs a token with the scope ${named}.`, {
    scope: first,
  });
}
