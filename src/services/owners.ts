import { DomainError } from '../domain/errors.ts';
import { isName } from '../domain/handles.ts';
import type { Administration } from '../unit-of-work.ts';

type Owners = Pick<Administration, 'owners'>;

/**
 * The name of an owner as it is stored: lower case.
 * @throws {DomainError} VALIDATION_ERROR (contract, section 2)
 */
export function ownerName(value: string): string {
  const name = value.trim().toLowerCase();
  if (isName(name)) return name;
  throw new DomainError(
    'VALIDATION_ERROR',
    `A name has 1 to 32 of a-z, 0-9, - and _, with a letter or digit at both ends; this is not one: ${value.slice(0, 80)}`,
  );
}

/**
 * The account or organization of this name.
 * @throws {DomainError} NOT_FOUND, also when the name is of the other kind.
 */
export async function ownerNamed({ owners }: Owners, name: string, kind: 'account' | 'organization') {
  const owner = await owners.find(ownerName(name));
  if (owner?.kind === kind) return owner;
  throw new DomainError('NOT_FOUND', `No such ${kind}: ${name.slice(0, 80)}`);
}
