import { DomainError, wrongField } from '../../../packages/core/src/domain/errors.ts';
import { isName, nameRule } from '../../../packages/core/src/domain/agents/handles.ts';
import { isReserved } from '../../../packages/core/src/domain/agents/reserved-names.ts';
import type { ReadWork } from '../../work/unit-of-work.ts';

/**
 * Returns the name of an owner as it is stored: in lower case.
 * @throws {DomainError} VALIDATION_ERROR
 */
export function parseOwnerName(value: string): string {
  const name = value.trim().toLowerCase();
  if (isName(name)) return name;
  throw new DomainError('VALIDATION_ERROR', `Invalid name: ${value.slice(0, 80)}. A name ${nameRule}.`);
}

/**
 * The same for a name that a person chooses in a form field: reserved names are refused too.
 * @throws {DomainError} VALIDATION_ERROR with the field
 */
export function parseChosenOwnerName(field: string, value: string): string {
  const name = value.trim().toLowerCase();
  if (!isName(name)) throw wrongField(field, nameRule);
  if (isReserved(name)) throw wrongField(field, 'is reserved; choose another one');
  return name;
}

/**
 * Returns the account or organization with this name.
 * @throws {DomainError} NOT_FOUND, also if the name belongs to the other kind
 */
export async function requireOwner(
  { db: { owners } }: ReadWork,
  name: string,
  kind: 'account' | 'organization',
) {
  const owner = await owners.find(parseOwnerName(name));
  if (owner?.kind === kind) return owner;
  throw new DomainError('NOT_FOUND', `No such ${kind}: ${name.slice(0, 80)}`);
}
