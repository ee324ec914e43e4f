import type { MembershipInvitationRow } from '../../repositories/people/membership-invitations.ts';
import type { Person } from '../../../packages/core/src/domain/auth/actor.ts';
import { isName } from '../../../packages/core/src/domain/agents/handles.ts';
import { DomainError, wrongField } from '../../../packages/core/src/domain/errors.ts';
import type { ReadWork, SystemWork } from '../../work/unit-of-work.ts';
import { lockAdministeredOrganization } from './memberships.ts';
import { requireOwner } from './owners.ts';

type ActingPerson = Pick<Person, 'account_id'>;
/** A person's invitation to an organization. Times in milliseconds. */
export type MembershipInvitation = MembershipInvitationRow;

export interface InviteMember {
  slug: string;
  username: string;
  role: 'admin' | 'member';
}

const lifeMs = 14 * 24 * 60 * 60 * 1000;
const maxPending = 100;
const maxShown = 50;

/**
 * Invites a person to an organization of which `by` is an admin, for 14 days. The person becomes a member only by accepting. Inviting
 * again replaces the invitation.
 * @throws {DomainError} NOT_FOUND; FORBIDDEN, also with 100 pending invitations of others; VALIDATION_ERROR (username is unknown or a member
 * already)
 */
export async function inviteMember(
  work: SystemWork,
  by: ActingPerson,
  { slug, username, role }: InviteMember,
): Promise<void> {
  const organization = await lockAdministeredOrganization(work, by, slug);
  const name = username.trim().toLowerCase();
  const account = isName(name) ? await work.db.owners.find(name) : undefined;
  // The same error for an unused name and for the name of an organization.
  if (account?.kind !== 'account') throw wrongField('username', 'is not the username of an account');
  if (await work.db.owners.findMember(organization.id, account.id))
    throw wrongField('username', 'is already a member');
  const pending = await work.db.membershipInvitations.countOthers(organization.id, account.id, work.now);
  if (pending >= maxPending) {
    throw new DomainError(
      'FORBIDDEN',
      `${organization.slug} has ${maxPending} pending invitations, which is the maximum. Revoke some first.`,
    );
  }
  await putInvitation(work, { id: organization.id, name: organization.slug }, account, role, by.account_id);
}

/**
 * Invites a person for an operator.
 * @returns the invitation.
 * @throws {DomainError} NOT_FOUND, VALIDATION_ERROR, INVALID_TRANSITION (the person is a member)
 */
export async function inviteAsOperator(work: SystemWork, { slug, username, role }: InviteMember) {
  const organization = await requireOwner(work, slug, 'organization');
  const account = await requireOwner(work, username, 'account');
  if (await work.db.owners.findMember(organization.id, account.id)) {
    throw new DomainError(
      'INVALID_TRANSITION',
      `${account.name} is already a member of ${organization.name}. Change the role with ams org role.`,
    );
  }
  const expires_at = await putInvitation(work, organization, account, role, null);
  return { slug: organization.name, username: account.name, role, expires_at };
}

/** Returns the pending invitations of a person, newest first, at most 50. */
export function listInvitationsOfPerson(
  { db: { membershipInvitations } }: ReadWork,
  { account_id }: ActingPerson,
) {
  return membershipInvitations.listOfAccount(account_id, Date.now(), maxShown);
}

/** Returns the pending invitations to an organization, by username. The caller checks that the reader is an admin. */
export function listInvitationsTo({ db: { membershipInvitations } }: ReadWork, { id }: { id: string }) {
  return membershipInvitations.listOfOrganization(id, Date.now());
}

/**
 * Returns the pending invitations to an organization for an operator.
 * @throws {DomainError} NOT_FOUND
 */
export async function listInvitationsAsOperator(work: ReadWork, slug: string) {
  return listInvitationsTo(work, await requireOwner(work, slug, 'organization'));
}

/**
 * Accepts an invitation: the person becomes a member. A person who is a member already keeps the role.
 * @throws {DomainError} NOT_FOUND: none is pending
 */
export async function acceptInvitation(
  work: SystemWork,
  { account_id }: ActingPerson,
  slug: string,
): Promise<void> {
  const organization = await findInviting(work, slug);
  const invitation = await work.db.membershipInvitations.take(organization.id, account_id, work.now);
  if (!invitation) throw invitationNotFound();
  if (await work.db.owners.findMember(organization.id, account_id)) return;
  await work.db.owners.putMember(organization.id, account_id, invitation.role, work.now);
  work.changes.audit({
    act: 'member.changed',
    account_id,
    about: organization.name,
    detail: { role: invitation.role, invited: true },
  });
}

/**
 * Declines an invitation. The organization can invite the person again.
 * @throws {DomainError} NOT_FOUND: none is pending
 */
export async function declineInvitation(
  work: SystemWork,
  { account_id }: ActingPerson,
  slug: string,
): Promise<void> {
  const organization = await findInviting(work, slug);
  if (!(await work.db.membershipInvitations.take(organization.id, account_id, work.now)))
    throw invitationNotFound();
  work.changes.audit({ act: 'member.invitation_declined', account_id, about: organization.name });
}

/**
 * Revokes an invitation to an organization of which `by` is an admin.
 * @throws {DomainError} NOT_FOUND (organization, invitation), FORBIDDEN
 */
export async function revokeInvitationToMember(
  work: SystemWork,
  by: ActingPerson,
  { slug, username }: Omit<InviteMember, 'role'>,
): Promise<void> {
  const organization = await lockAdministeredOrganization(work, by, slug);
  const account = isName(username) ? await work.db.owners.find(username) : undefined;
  if (!account) throw invitationNotFound();
  await takeBack(work, { id: organization.id, name: organization.slug }, account);
}

/**
 * Revokes an invitation for an operator.
 * @throws {DomainError} NOT_FOUND
 */
export async function revokeInvitationAsOperator(
  work: SystemWork,
  { slug, username }: Omit<InviteMember, 'role'>,
) {
  const organization = await requireOwner(work, slug, 'organization');
  const account = await requireOwner(work, username, 'account');
  await takeBack(work, organization, account);
  return { slug: organization.name, username: account.name, revoked: true };
}

interface Named {
  id: string;
  name: string;
}

/** Returns when the invitation expires. */
async function putInvitation(
  work: SystemWork,
  organization: Named,
  account: Named,
  role: InviteMember['role'],
  invited_by: string | null,
): Promise<number> {
  const times = { created_at: work.now, expires_at: work.now + lifeMs };
  const ids = { organization_id: organization.id, account_id: account.id };
  await work.db.membershipInvitations.put({ ...ids, role, invited_by, ...times });
  work.changes.audit({
    act: 'member.invited',
    account_id: account.id,
    about: organization.name,
    detail: { role },
  });
  return times.expires_at;
}

async function takeBack(work: SystemWork, organization: Named, account: Named): Promise<void> {
  if (!(await work.db.membershipInvitations.take(organization.id, account.id, work.now)))
    throw invitationNotFound();
  work.changes.audit({ act: 'member.invitation_revoked', account_id: account.id, about: organization.name });
}

/** The same error for an organization that does not exist and one that does not invite the person. */
async function findInviting({ db: { owners } }: ReadWork, slug: string): Promise<Named> {
  const organization = isName(slug) ? await owners.find(slug) : undefined;
  if (organization?.kind !== 'organization') throw invitationNotFound();
  return organization;
}

function invitationNotFound(): DomainError {
  return new DomainError(
    'NOT_FOUND',
    'No such invitation: it has expired, was revoked, or was answered already.',
  );
}
