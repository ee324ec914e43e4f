import { DomainError } from '../../domain/errors.ts';
import { newId } from '../../domain/ids.ts';
import type { SystemWork } from '../../work/unit-of-work.ts';
import { endAccessOfMember, endConnectionsBeyondRights } from '../auth/connections.ts';
import { parseOwnerName, requireOwner } from './owners.ts';

/**
 * Founds an organization.
 * @throws {DomainError} VALIDATION_ERROR (the name), DUPLICATE_HANDLE
 */
export async function createOrganization(work: SystemWork, slug: string) {
  const organization = { id: newId('organization'), name: parseOwnerName(slug), created_at: work.now };
  await work.owners.insertOrganization(organization);
  work.audit({ act: 'organization.founded', about: organization.name });
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
export function addToOrganization(work: SystemWork, membership: Membership) {
  return putMember(work, membership, async () => {});
}

/**
 * Gives a member of an organization another role. What clients were granted beyond it ends.
 * @returns as addToOrganization.
 * @throws {DomainError} NOT_FOUND, also when the person is no member
 */
export function setRole(work: SystemWork, membership: Membership) {
  return putMember(work, membership, async (organization, account) => {
    if (!(await work.owners.findMember(organization.id, account.id))) throw noMember(account, organization);
  });
}

type Owner = Awaited<ReturnType<typeof requireOwner>>;

async function putMember(
  work: SystemWork,
  { slug, username, role }: Membership,
  check: (organization: Owner, account: Owner) => Promise<void>,
) {
  const organization = await requireOwner(work, slug, 'organization');
  const account = await requireOwner(work, username, 'account');
  await check(organization, account);
  await work.owners.putMember(organization.id, account.id, role, work.now);
  work.audit({ act: 'member.changed', account_id: account.id, about: organization.name, detail: { role } });
  const ended = await endConnectionsBeyondRights(work, account.id);
  return { membership: { slug: organization.name, username: account.name, role }, ended };
}

/**
 * Takes a person out of an organization. What the person's agents may do there ends with it, and so does what clients were granted
 * on that ground; the agents themselves stay.
 * @returns as addToOrganization.
 * @throws {DomainError} NOT_FOUND, also when the person is no member
 */
export async function removeFromOrganization(work: SystemWork, { slug, username }: Omit<Membership, 'role'>) {
  const organization = await requireOwner(work, slug, 'organization');
  const account = await requireOwner(work, username, 'account');
  if (!(await work.owners.removeMember(organization.id, account.id))) throw noMember(account, organization);
  work.audit({ act: 'member.removed', account_id: account.id, about: organization.name });
  const ended = await endAccessOfMember(work, organization.id, account.id);
  return { membership: { slug: organization.name, username: account.name }, ended };
}

/**
 * The members of an organization by name, each since when, in milliseconds.
 * @throws {DomainError} NOT_FOUND
 */
export async function listMembers(work: Pick<SystemWork, 'owners'>, slug: string) {
  const organization = await requireOwner(work, slug, 'organization');
  return work.owners.listMembers(organization.id, { after: '', limit: null });
}

function noMember(account: { name: string }, organization: { name: string }): DomainError {
  return new DomainError('NOT_FOUND', `${account.name} is not a member of ${organization.name}.`);
}
