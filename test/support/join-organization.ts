import { acceptInvitation } from '../../src/services/people/membership-invitations.ts';
import { inviteAsOperator } from '../../src/services/people/organizations.ts';
import { listMembers, type Membership, setRole } from '../../src/services/people/organizations.ts';
import { requireOwner } from '../../src/services/people/owners.ts';
import type { SystemWork } from '../../src/work/unit-of-work.ts';

/** Makes a person a member: an operator invites, and the person accepts. A member gets the role. */
export async function joinOrganization(work: SystemWork, membership: Membership): Promise<void> {
  const { slug, username } = membership;
  const members = await listMembers(work, slug);
  if (members.some((member) => member.username === username)) {
    await setRole(work, membership);
    return;
  }
  await inviteAsOperator(work, membership);
  const { id: account_id } = await requireOwner(work, username, 'account');
  await acceptInvitation(work, { account_id }, slug);
}
