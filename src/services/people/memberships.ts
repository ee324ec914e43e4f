import type { MembershipRow } from '../../repositories/people/memberships.ts';
import type { MemberRow } from '../../repositories/people/owners.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { isName } from '../../../packages/core/src/domain/agents/handles.ts';
import { newId } from '../../../packages/core/src/domain/ids.ts';
import type { Person } from '../../../packages/core/src/domain/auth/actor.ts';
import type { ReadWork, SystemWork } from '../../work/unit-of-work.ts';
import { organizationNotFound } from '../access.ts';
import { endAccessOfMember, endConnectionsBeyondRights } from '../auth/connections.ts';
import { parseChosenOwnerName } from './owners.ts';
import type { Revocation } from '../auth/tokens.ts';

type Role = Parameters<SystemWork['db']['owners']['putMember']>[2];
type ActingPerson = Pick<Person, 'account_id'>;

const maxAdministered = 20;

/** A page of at most `limit` rows after the name `after`. */
interface Page {
  after?: string;
  limit?: number;
}

/** An organization of a person, with the role of the person in it. */
export type Organization = MembershipRow;

/** A member of an organization. */
export type Member = MemberRow;

/** Returns the organizations of a person by name, with the person's role in each. Times in milliseconds. */
export function listOrganizations(
  { db: { memberships } }: ReadWork,
  by: ActingPerson,
  { after = '', limit = 500 }: Page = {},
): Promise<Organization[]> {
  return memberships.list(by.account_id, { after, limit });
}

/**
 * Returns an organization of a person, with its members by name.
 * @throws {DomainError} NOT_FOUND, also if the person is not a member
 */
export async function requireOrganization(
  work: ReadWork,
  by: ActingPerson,
  slug: string,
  { after = '', limit = 500 }: Page = {},
) {
  const organization = await loadOrganization(work, by, slug);
  return { ...organization, members: await work.db.owners.listMembers(organization.id, { after, limit }) };
}

/**
 * Creates an organization, with the person as its admin. A person who is an admin of 20 organizations cannot create another one.
 * @throws {DomainError} VALIDATION_ERROR or DUPLICATE_HANDLE (slug), FORBIDDEN (too many)
 */
export async function foundOrganization(work: SystemWork, by: ActingPerson, slug: string) {
  const name = parseChosenOwnerName('slug', slug);
  const {
    db: { accounts, memberships, owners },
    now,
  } = work;
  // The lock keeps concurrent calls within the maximum.
  await accounts.lock(by.account_id);
  if ((await memberships.countAdministered(by.account_id)) >= maxAdministered) {
    throw new DomainError(
      'FORBIDDEN',
      `You can be an admin of at most ${maxAdministered} organizations. Make another member of one an admin, and leave it.`,
    );
  }
  const id = newId('organization');
  await owners.insertOrganization({ id, name, created_at: now });
  await owners.putMember(id, by.account_id, 'admin', now);
  work.changes.audit({ act: 'organization.founded', about: name });
  return { id, slug: name, role: 'admin' as const, created_at: now };
}

/**
 * Changes the role of a member, who may be `by`. The last admin cannot be demoted.
 * @returns the revocations to publish after the commit.
 * @throws {DomainError} NOT_FOUND (organization, member), FORBIDDEN, INVALID_TRANSITION (the last admin)
 */
export async function changeRole(
  work: SystemWork,
  by: ActingPerson,
  { slug, username, role }: { slug: string; username: string; role: Role },
): Promise<Revocation[]> {
  const organization = await lockAdministeredOrganization(work, by, slug);
  const member = await requireMember(work, organization.id, username);
  if (member.role === 'admin' && role !== 'admin') await requireAnotherAdmin(work, organization.id);
  await work.db.owners.putMember(organization.id, member.id, role, work.now);
  auditRoleChange(work, organization, member.id, role);
  return endConnectionsBeyondRights(work, member.id);
}

/**
 * Removes a member: admins can remove anyone, members only themselves. The last admin cannot be removed. The person's access ends;
 * agents that belong to the person stay with the organization.
 * @returns the revocations to publish after the commit.
 * @throws {DomainError} NOT_FOUND (organization, member), FORBIDDEN, INVALID_TRANSITION (the last admin)
 */
export async function removeMember(
  work: SystemWork,
  by: ActingPerson,
  { slug, username }: { slug: string; username: string },
): Promise<Revocation[]> {
  const { organization, member } = await requireRemovableMember(work, by, { slug, username }, 'lock');
  if (member.role === 'admin') await requireAnotherAdmin(work, organization.id);
  await work.db.owners.removeMember(organization.id, member.id);
  work.changes.audit({ act: 'member.removed', account_id: member.id, about: organization.slug });
  return endAccessOfMember(work, organization.id, member.id);
}

/**
 * Returns a member that the person can remove, unless it is the last admin.
 * @throws {DomainError} NOT_FOUND (organization, member), FORBIDDEN
 */
export async function requireRemovableMember(
  work: ReadWork,
  by: ActingPerson,
  { slug, username }: { slug: string; username: string },
  how: 'find' | 'lock' = 'find',
) {
  const organization = await loadOrganization(work, by, slug, how);
  const member = await requireMember(work, organization.id, username);
  if (member.id !== by.account_id) requireAdmin(organization);
  return { organization, member };
}

function auditRoleChange(work: SystemWork, { slug }: MembershipRow, account_id: string, role: Role): void {
  work.changes.audit({ act: 'member.changed', account_id, about: slug, detail: { role } });
}

/** Returns an organization of a person; `lock` locks it until the transaction ends. @throws {DomainError} NOT_FOUND, as requireOrganization */
export async function loadOrganization(
  { db: { memberships } }: ReadWork,
  by: ActingPerson,
  slug: string,
  how: 'find' | 'lock' = 'find',
): Promise<MembershipRow> {
  const organization = isName(slug) ? await memberships[how](by.account_id, slug) : undefined;
  if (!organization) throw organizationNotFound();
  return organization;
}

/**
 * Returns the organization of an admin, locked until the transaction ends.
 * @throws {DomainError} NOT_FOUND, FORBIDDEN
 */
export async function lockAdministeredOrganization(
  work: ReadWork,
  by: ActingPerson,
  slug: string,
): Promise<MembershipRow> {
  const organization = await loadOrganization(work, by, slug, 'lock');
  requireAdmin(organization);
  return organization;
}

/** @throws {DomainError} FORBIDDEN */
export function requireAdmin({ role, slug }: MembershipRow): void {
  if (role !== 'admin') throw new DomainError('FORBIDDEN', `Only admins of ${slug} can do this.`);
}

async function requireMember({ db: { owners } }: ReadWork, organization_id: string, username: string) {
  const account = isName(username) ? await owners.find(username) : undefined;
  const member = account && (await owners.findMember(organization_id, account.id));
  if (!member) throw new DomainError('NOT_FOUND', `No such member: ${username.slice(0, 80)}`);
  return { id: account.id, role: member.role };
}

async function requireAnotherAdmin(
  { db: { memberships } }: ReadWork,
  organization_id: string,
): Promise<void> {
  if ((await memberships.countAdmins(organization_id)) > 1) return;
  throw new DomainError(
    'INVALID_TRANSITION',
    'An organization needs an admin; make another member an admin first.',
  );
}
