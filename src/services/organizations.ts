import { DomainError } from '../domain/errors.ts';
import { newId } from '../domain/ids.ts';
import type { Administration } from '../unit-of-work.ts';
import { endAccessOfMember, endConnectionsBeyondRights } from './connections.ts';
import { ownerName, ownerNamed } from './owners.ts';

/**
 * Founds an organization.
 * @throws {DomainError} VALIDATION_ERROR (the name), DUPLICATE_HANDLE
 */
export async function createOrganization(work: Administration, slug: string) {
  const organization = { id: newId('organization'), name: ownerName(slug), created_at: work.now };
  await work.owners.insertOrganization(organization);
  work.note({ act: 'organization.founded', about: organization.name });
  return { id: organization.id, slug: organization.name, created_at: organization.created_at };
}

export interface Membership {
  slug: string;
  username: string;
  role: 'admin' | 'member';
}

/**
 * Makes a person a member of an organization, or gives a member another role. What clients were granted beyond the new role ends.
 * @returns with `ended`, to announce to running processes once it is committed.
 * @throws {DomainError} NOT_FOUND, VALIDATION_ERROR
 */
export function addToOrganization(work: Administration, membership: Membership) {
  return putMember(work, membership, async () => {});
}

/**
 * Gives a member of an organization another role. What clients were granted beyond it ends.
 * @returns as addToOrganization.
 * @throws {DomainError} NOT_FOUND, also when the person is no member
 */
export function setRole(work: Administration, membership: Membership) {
  return putMember(work, membership, async (organization, account) => {
    if (!(await work.owners.findMember(organization.id, account.id))) throw noMember(account, organization);
  });
}

type Owner = Awaited<ReturnType<typeof ownerNamed>>;

async function putMember(
  work: Administration,
  { slug, username, role }: Membership,
  check: (organization: Owner, account: Owner) => Promise<void>,
) {
  const organization = await ownerNamed(work, slug, 'organization');
  const account = await ownerNamed(work, username, 'account');
  await check(organization, account);
  await work.owners.putMember(organization.id, account.id, role, work.now);
  work.note({ act: 'member.changed', account_id: account.id, about: organization.name, detail: { role } });
  const ended = await endConnectionsBeyondRights(work, account.id);
  return { membership: { slug: organization.name, username: account.name, role }, ended };
}

/**
 * Takes a person out of an organization. What the person's agents may do there ends with it, and so does what clients were granted
 * on that ground; the agents themselves stay.
 * @returns as addToOrganization.
 * @throws {DomainError} NOT_FOUND, also when the person is no member
 */
export async function removeFromOrganization(
  work: Administration,
  { slug, username }: Omit<Membership, 'role'>,
) {
  const organization = await ownerNamed(work, slug, 'organization');
  const account = await ownerNamed(work, username, 'account');
  if (!(await work.owners.removeMember(organization.id, account.id))) throw noMember(account, organization);
  work.note({ act: 'member.removed', account_id: account.id, about: organization.name });
  const ended = await endAccessOfMember(work, organization.id, account.id);
  return { membership: { slug: organization.name, username: account.name }, ended };
}

/**
 * The members of an organization by name, each since when, in milliseconds.
 * @throws {DomainError} NOT_FOUND
 */
export async function listMembers(work: Pick<Administration, 'owners'>, slug: string) {
  const organization = await ownerNamed(work, slug, 'organization');
  return work.owners.listMembers(organization.id, { after: '', limit: null });
}

function noMember(account: { name: string }, organization: { name: string }): DomainError {
  return new DomainError('NOT_FOUND', `${account.name} is not a member of ${organization.name}.`);
}
