import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { newId } from '../../../packages/core/src/domain/ids.ts';
import type { ReadWork, SystemWork } from '../../work/unit-of-work.ts';
import { endAccessOfMember, endConnectionsBeyondRights } from '../auth/connections.ts';
import {
  type InviteMember,
  listInvitationsTo,
  putInvitation,
  takeBack,
  takeLinkBack,
} from './membership-invitations.ts';
import { parseOwnerName, requireOwner } from './owners.ts';

/**
 * Creates an organization for an operator.
 * @throws {DomainError} VALIDATION_ERROR (the name), DUPLICATE_HANDLE
 */
export async function createOrganization(work: SystemWork, slug: string) {
  const organization = { id: newId('organization'), name: parseOwnerName(slug), created_at: work.now };
  await work.db.owners.insertOrganization(organization);
  work.changes.audit({ act: 'organization.founded', about: organization.name });
  return { id: organization.id, slug: organization.name, created_at: organization.created_at };
}

export interface Membership {
  slug: string;
  username: string;
  role: 'admin' | 'member';
}

/**
 * Changes the role of a member. Grants beyond the new role end.
 * @returns the membership, and in `ended` the revocations to publish after the commit.
 * @throws {DomainError} NOT_FOUND, also if the person is not a member; VALIDATION_ERROR
 */
export async function setRole(work: SystemWork, { slug, username, role }: Membership) {
  const organization = await requireOwner(work, slug, 'organization');
  const account = await requireOwner(work, username, 'account');
  if (!(await work.db.owners.findMember(organization.id, account.id))) throw notMember(account, organization);
  await work.db.owners.putMember(organization.id, account.id, role, work.now);
  work.changes.audit({
    act: 'member.changed',
    account_id: account.id,
    about: organization.name,
    detail: { role },
  });
  const ended = await endConnectionsBeyondRights(work, account.id);
  return { membership: { slug: organization.name, username: account.name, role }, ended };
}

/**
 * Removes a person from an organization. Access through the membership ends, including grants of clients; agents stay.
 * @returns as setRole.
 * @throws {DomainError} NOT_FOUND, also if the person is not a member
 */
export async function removeFromOrganization(work: SystemWork, { slug, username }: Omit<Membership, 'role'>) {
  const organization = await requireOwner(work, slug, 'organization');
  const account = await requireOwner(work, username, 'account');
  if (!(await work.db.owners.removeMember(organization.id, account.id)))
    throw notMember(account, organization);
  work.changes.audit({ act: 'member.removed', account_id: account.id, about: organization.name });
  const ended = await endAccessOfMember(work, organization.id, account.id);
  return { membership: { slug: organization.name, username: account.name }, ended };
}

/**
 * Returns the members of an organization by name. Times in milliseconds.
 * @throws {DomainError} NOT_FOUND
 */
export async function listMembers(work: ReadWork, slug: string) {
  const organization = await requireOwner(work, slug, 'organization');
  return work.db.owners.listMembers(organization.id, { after: '', limit: null });
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

/**
 * Returns the pending invitations to an organization for an operator, a link with the number that revokes it.
 * @throws {DomainError} NOT_FOUND
 */
export async function listInvitationsAsOperator(work: ReadWork, slug: string) {
  const invitations = await listInvitationsTo(work, await requireOwner(work, slug, 'organization'));
  return invitations.map(({ number, ...invitation }) => ({
    ...invitation,
    link: invitation.username === null ? number : null,
  }));
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

/**
 * Revokes an invitation by link for an operator.
 * @throws {DomainError} NOT_FOUND
 */
export async function revokeLinkAsOperator(
  work: SystemWork,
  { slug, number }: { slug: string; number: number },
) {
  const organization = await requireOwner(work, slug, 'organization');
  await takeLinkBack(work, organization, number);
  return { slug: organization.name, link: number, revoked: true };
}

function notMember(account: { name: string }, organization: { name: string }): DomainError {
  return new DomainError('NOT_FOUND', `${account.name} is not a member of ${organization.name}.`);
}
