import type { Actor } from '../../domain/auth/actor.ts';
import { allows, type Scope } from '../../domain/auth/scopes.ts';
import { DomainError } from '../../domain/errors.ts';
import type { Operation } from '../define.ts';
import type { Answer, CallContext, Next } from './context.ts';

/** Refuses calls whose token lacks the scope of the operation. @throws {DomainError} INSUFFICIENT_SCOPE */
export async function authorizeScope({ call }: CallContext, next: Next): Promise<Answer> {
  requireScope(call.operation, call.actor);
  return next();
}

/** @throws {DomainError} INSUFFICIENT_SCOPE, with the missing scope. */
export function requireScope({ scope, reply }: Operation, actor: Actor): void {
  const needed: readonly (Scope | 'any')[] = reply ? [scope, 'threads:read'] : [scope];
  const missing = needed.find((one) => one !== 'any' && !allows(actor.scopes, one));
  if (missing === undefined) return;
  throw new DomainError('INSUFFICIENT_SCOPE', `This needs a token with the scope ${missing}.`, {
    scope: missing,
  });
}
