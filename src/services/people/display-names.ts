import type { OwnerRow } from '../../repositories/people/owners.ts';
import type { Person } from '../../../packages/core/src/domain/auth/actor.ts';
import { isHandle } from '../../../packages/core/src/domain/agents/handles.ts';
import { wrongField } from '../../../packages/core/src/domain/errors.ts';
import { toVisibleLine } from '../../../packages/core/src/domain/visible-text.ts';
import type { SystemWork } from '../../work/unit-of-work.ts';
import { lockAdministeredOrganization } from './memberships.ts';
import { requireOwner } from './owners.ts';

/** Characters of a display name. */
export const maxDisplayNameLength = 100;

/**
 * Sets the name that others see beside the username of a person. An empty text removes it.
 * @returns the name as it is stored.
 * @throws {DomainError} VALIDATION_ERROR with the field display_name
 */
export async function setNameOfPerson(
  work: SystemWork,
  { account_id, username }: Pick<Person, 'account_id' | 'username'>,
  text: string,
): Promise<string | null> {
  return storeName(work, { id: account_id, kind: 'account', name: username }, text);
}

/**
 * Sets the name of an organization of which `by` is an admin, as setNameOfPerson.
 * @throws {DomainError} NOT_FOUND, FORBIDDEN; VALIDATION_ERROR with the field display_name
 */
export async function setNameOfOrganization(
  work: SystemWork,
  by: Pick<Person, 'account_id'>,
  { slug, text }: { slug: string; text: string },
): Promise<string | null> {
  const { id } = await lockAdministeredOrganization(work, by, slug);
  return storeName(work, { id, kind: 'organization', name: slug }, text);
}

/**
 * Sets the name of an owner for an operator, as setNameOfPerson.
 * @throws {DomainError} NOT_FOUND, VALIDATION_ERROR
 */
export async function setNameAsOperator(
  work: SystemWork,
  { kind, name, text }: Pick<OwnerRow, 'kind' | 'name'> & { text: string },
) {
  const owner = await requireOwner(work, name, kind);
  return { name: owner.name, display_name: await storeName(work, owner, text) };
}

/**
 * A display name is one line of visible characters. It may not look like a handle or be the name of another owner: only names of owners
 * are verified.
 */
async function storeName(
  work: SystemWork,
  { id, kind, name }: Pick<OwnerRow, 'id' | 'kind' | 'name'>,
  text: string,
): Promise<string | null> {
  // The length of the text as it was entered bounds the work.
  if (text.length > 4 * maxDisplayNameLength) throw tooLong();
  const display_name = toVisibleLine(text, maxDisplayNameLength + 1);
  if (Array.from(display_name).length > maxDisplayNameLength) throw tooLong();
  const folded = await work.db.agentSearch.fold(display_name);
  if (display_name.includes('@') || isHandle(folded))
    throw wrongField('display_name', 'must not look like a handle');
  const other = await work.db.owners.find(folded);
  if (other && other.id !== id)
    throw wrongField('display_name', 'is the name of another account or organization');
  const stored = display_name === '' ? null : display_name;
  await work.db.owners.setDisplayName(id, stored);
  work.changes.audit({
    act: 'owner.renamed',
    ...(kind === 'account' && { account_id: id }),
    about: name,
    detail: { display_name: stored },
  });
  return stored;
}

function tooLong() {
  return wrongField('display_name', `must have at most ${maxDisplayNameLength} characters`);
}
