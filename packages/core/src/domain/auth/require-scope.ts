import { DomainError } from '../errors.ts';
import { allows, type RequiredScope, sufficientScopes } from './scopes.ts';

/** @throws {DomainError} INSUFFICIENT_SCOPE, with the missing scope; the least powerful one where several are sufficient. */
export function requireScope(granted: ReadonlySet<string>, required: RequiredScope | 'any'): void {
  if (required === 'any' || allows(granted, required)) return;
  const named =
    typeof required === 'string'
      ? required
      : new Intl.ListFormat('en', { type: 'disjunction' }).format(required);
  const [scope = ''] = sufficientScopes(required);
  throw new DomainError('INSUFFICIENT_SCOPE', `This call needs a token with the scope ${named}.`, { scope });
}
