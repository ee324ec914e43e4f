import type { Actor } from '../../../packages/core/src/domain/auth/actor.ts';
import {
  allows,
  type RequiredScope,
  sufficientScopes,
} from '../../../packages/core/src/domain/auth/scopes.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import type { Operation } from '../define.ts';
import type { Answer, CallContext, Next } from './context.ts';

/** Refuses calls whose token lacks the scope of the operation. @throws {DomainError} INSUFFICIENT_SCOPE */
export async function authorizeScope({ call }: CallContext, next: Next): Promise<Answer> {
  requireScope(call.operation, call.actor);
  return next();
}

/** @throws {DomainError} INSUFFICIENT_SCOPE, with the missing scope; the least powerful one where several are sufficient. */
export function requireScope({ scope, reply }: Operation, actor: Actor): void {
  const needed: readonly (RequiredScope | 'any')[] = reply ? [scope, 'threads:read'] : [scope];
  for (const one of needed) {
    if (one !== 'any' && !allows(actor.scopes, one)) throw insufficientScope(one);
  }
}

function insufficientScope(required: RequiredScope): DomainError {
  const named =
    typeof required === 'string'
      ? required
      : new Intl.ListFormat('en', { type: 'disjunction' }).format(required);
  const [first = ''] = sufficientScopes(required);
  return new DomainError('INSUFFICIENT_SCOPE', `This call needs a token with the scope ${named}.`, {
    scope: first,
  });
}
