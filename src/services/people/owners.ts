import { DomainError, wrongField } from '../../domain/errors.ts';
import { isName, nameRule } from '../../domain/agents/handles.ts';
import { isReserved } from '../../domain/agents/reserved-names.ts';
import type { SystemWork } from '../../work/unit-of-work.ts';

type Owners = Pick<SystemWork, 'owners'>;

/**
 * The name of an owner as it is stored: lower case.
 * @throws {DomainError} VALIDATION_ERROR (contract, section 2)
 */
export function parseOwnerName(value: string): string {
  const name = value.trim().toLowerCase();
  if (isName(name)) return name;
  throw new DomainError('VALIDATION_ERROR', `A name ${nameRule}; this is not one: ${value.slice(0, 80)}`);
}

/**
 * As ownerName, for a name that a person chooses in a field of a form: those that are kept back are refused too.
 * @throws {DomainError} VALIDATION_ERROR, naming the field
 */
export function parseChosenOwnerName(field: string, value: string): string {
  const name = value.trim().toLowerCase();
  if (!isName(name)) throw wrongField(field, nameRule);
  if (isReserved(name)) throw wrongField(field, 'is kept back; choose another');
  return name;
}

/**
 * The account or organization of this name.
 * @throws {DomainError} NOT_FOUND, also when the name is of the other kind.
 */
export async function requireOwner({ owners }: Owners, name: string, kind: 'account' | 'organization') {
  const owner = await owners.find(parseOwnerName(name));
  if (owner?.kind === kind) return owner;
  throw new DomainError('NOT_FOUND', `No such ${kind}: ${name.slice(0, 80)}`);
}
