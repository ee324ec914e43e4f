import { randomBytes } from 'node:crypto';
import type {
  InvitationLinkRow,
  MembershipInvitationRow,
} from '../../repositories/people/membership-invitations.ts';
import type { Person } from '../../../packages/core/src/domain/auth/actor.ts';
import { isName } from '../../../packages/core/src/domain/agents/handles.ts';
import { DomainError, wrongField } from '../../../packages/core/src/domain/errors.ts';
import type { ReadWork, SystemWork } from '../../work/unit-of-work.ts';
import { sha256 } from '../auth/token-records.ts';
import { lockAdministeredOrganization } from './memberships.ts';

type ActingPerson = Pick<Person, 'account_id'>;
/** An invitation to an organization. Times in milliseconds. */
export type MembershipInvitation = MembershipInvitationRow;

export interface InviteMember {
  slug: string;
  username: string;
  role: 'admin' | 'member';
}

const dayMs = 24 * 60 * 60 * 1000;
const lifeMs = 14 * dayMs;
const linkLifeMs = 7 * dayMs;
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
  await requireRoom(work, organization, account.id);
  await putInvitation(work, { id: organization.id, name: organization.slug }, account, role, by.account_id);
}

/** @throws {DomainError} FORBIDDEN: the organization has 100 pending invitations of others */
async function requireRoom(
  work: SystemWork,
  { id, slug }: { id: string; slug: string },
  account_id: string,
): Promise<void> {
  if ((await work.db.membershipInvitations.countOthers(id, account_id, work.now)) < maxPending) return;
  throw new DomainError(
    'FORBIDDEN',
    `${slug} can have at most ${maxPending} pending invitations. Revoke some first.`,
  );
}

/**
 * Makes a link with which one person can become a member, for 7 days, and while `by` is an admin.
 * @returns the address, of which only a hash is stored
 * @throws {DomainError} NOT_FOUND; FORBIDDEN, also with 100 pending invitations
 */
export async function createInvitationLink(
  work: SystemWork,
  by: ActingPerson,
  { slug, role }: Omit<InviteMember, 'username'>,
): Promise<string> {
  const organization = await lockAdministeredOrganization(work, by, slug);
  await requireRoom(work, organization, '');
  const secret = randomBytes(32).toString('base64url');
  await work.db.membershipInvitations.put({
    organization_id: organization.id,
    account_id: null,
    secret_hash: sha256(secret),
    role,
    invited_by: by.account_id,
    created_at: work.now,
    expires_at: work.now + linkLifeMs,
  });
  work.changes.audit({ act: 'member.invited', about: organization.slug, detail: { role, by_link: true } });
  return `${work.settings.publicUrl}/console/invitations/${secret}`;
}

/**
 * Returns the invitation of a link.
 * @throws {DomainError} NOT_FOUND, the same for a link that does not exist, was used or revoked, or has ended
 */
export async function requireInvitationLink(
  { db: { membershipInvitations } }: ReadWork,
  { account_id }: ActingPerson,
  secret: string,
): Promise<InvitationLinkRow> {
  const found = await membershipInvitations.findLink(sha256(secret), account_id, Date.now());
  if (!found) throw linkEnded();
  return found;
}

/**
 * Accepts or declines the invitation of a link, which is then used. A person who is a member already keeps the role, and the link.
 * @returns the slug of the organization
 * @throws {DomainError} NOT_FOUND, as requireInvitationLink
 */
export async function answerInvitationLink(
  work: SystemWork,
  by: ActingPerson,
  { secret, accepts }: { secret: string; accepts: boolean },
): Promise<string> {
  const { account_id } = by;
  const { organization_id } = await requireInvitationLink(work, by, secret);
  await work.db.owners.lock(organization_id);
  // Again: it may have been used or revoked before the lock.
  const { number, slug, role, is_member } = await requireInvitationLink(work, by, secret);
  if (is_member) return slug;
  if (!(await work.db.membershipInvitations.takeLink(organization_id, number, work.now))) throw linkEnded();
  if (accepts) {
    await addInvited(work, { id: organization_id, name: slug }, account_id, role);
    // A member who is removed later cannot return by an invitation from before.
    if (await work.db.membershipInvitations.take(organization_id, account_id, work.now))
      work.changes.audit({ act: 'member.invitation_revoked', account_id, about: slug });
  } else work.changes.audit({ act: 'member.invitation_declined', account_id, about: slug });
  return slug;
}

/**
 * Revokes an invitation by link to an organization of which `by` is an admin.
 * @throws {DomainError} NOT_FOUND (organization, invitation), FORBIDDEN
 */
export async function revokeInvitationLink(
  work: SystemWork,
  by: ActingPerson,
  { slug, number }: { slug: string; number: number },
): Promise<void> {
  const { id } = await lockAdministeredOrganization(work, by, slug);
  await takeLinkBack(work, { id, name: slug }, number);
}

/** Returns the pending invitations of a person, newest first, at most 50. */
export function listInvitationsOfPerson(
  { db: { membershipInvitations } }: ReadWork,
  { account_id }: ActingPerson,
) {
  return membershipInvitations.listOfAccount(account_id, Date.now(), maxShown);
}

/** Returns the pending invitations to an organization, by username, then links. The caller checks that the reader is an admin. */
export function listInvitationsTo({ db: { membershipInvitations } }: ReadWork, { id }: { id: string }) {
  return membershipInvitations.listOfOrganization(id, Date.now());
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
  await addInvited(work, organization, account_id, invitation.role);
}

async function addInvited(
  work: SystemWork,
  { id, name }: Named,
  account_id: string,
  role: InviteMember['role'],
): Promise<void> {
  await work.db.owners.putMember(id, account_id, role, work.now);
  work.changes.audit({ act: 'member.changed', account_id, about: name, detail: { role, invited: true } });
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

interface Named {
  id: string;
  name: string;
}

/** Inserts or replaces the invitation of an account. Returns when it expires (ms). */
export async function putInvitation(
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

/** @throws {DomainError} NOT_FOUND */
export async function takeBack(work: SystemWork, organization: Named, account: Named): Promise<void> {
  if (!(await work.db.membershipInvitations.take(organization.id, account.id, work.now)))
    throw invitationNotFound();
  work.changes.audit({ act: 'member.invitation_revoked', account_id: account.id, about: organization.name });
}

/** @throws {DomainError} NOT_FOUND */
export async function takeLinkBack(work: SystemWork, { id, name }: Named, number: number): Promise<void> {
  if (!(await work.db.membershipInvitations.takeLink(id, number, work.now))) throw invitationNotFound();
  work.changes.audit({ act: 'member.invitation_revoked', about: name, detail: { by_link: true } });
}

/** The same error for an organization that does not exist and one that does not invite the person. */
async function findInviting({ db: { owners } }: ReadWork, slug: string): Promise<Named> {
  const organization = isName(slug) ? await owners.find(slug) : undefined;
  if (organization?.kind !== 'organization') throw invitationNotFound();
  return organization;
}

const linkEnded = () =>
  new DomainError(
    'NOT_FOUND',
    'This invitation does not exist, was used, or has ended. Ask the person who sent it for another one.',
  );

function invitationNotFound(): DomainError {
  return new DomainError(
    'NOT_FOUND',
    'No such invitation: it has expired, was revoked, or was answered already.',
  );
}
