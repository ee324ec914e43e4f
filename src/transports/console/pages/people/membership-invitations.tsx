import { DomainError } from '../../../../../packages/core/src/domain/errors.ts';
import {
  acceptInvitation,
  declineInvitation,
  type MembershipInvitation,
} from '../../../../services/people/membership-invitations.ts';
import { monogram, type Row, Time } from '../../components/rows.tsx';
import { Decision } from '../../components/form.tsx';
import { redirectOrWarn } from '../../form-errors.ts';
import { action } from '../../route.ts';

/** Accepts or declines an invitation to an organization. */
export const invitationDecision = action(
  '/console/organizations/:slug/invitation',
  ({ params: { slug = '' }, person, form, write }) =>
    redirectOrWarn('/console/organizations', async () => {
      const decision = form.get('decision');
      if (decision !== 'accept' && decision !== 'decline')
        throw new DomainError('VALIDATION_ERROR', 'Press Accept or Decline.');
      const accepts = decision === 'accept';
      await write(accepts ? acceptInvitation : declineInvitation, person, slug);
      return accepts ? `You are now a member of ${slug}.` : `Declined the invitation to ${slug}.`;
    }),
);

const roleText = ({ role }: MembershipInvitation) => (role === 'admin' ? 'an admin' : 'a member');

/** An invitation of the signed-in person, to accept or decline. */
export function invitationRow(invitation: MembershipInvitation): Row {
  const { slug, invited_by, expires_at } = invitation;
  return {
    key: slug,
    mark: monogram(slug),
    title: slug,
    lines: [
      [
        `${invited_by ?? 'An operator'} invites you as ${roleText(invitation)}`,
        ['expires ', <Time at={expires_at} />],
      ],
    ],
    side: (
      <Decision
        action={`/console/organizations/${slug}/invitation`}
        yes="accept"
        no="decline"
        about={`the invitation to ${slug}`}
        class="inline"
      />
    ),
  };
}

/** A pending invitation to the organization at this address, for its admins. */
export function pendingInvitationRow(invitation: MembershipInvitation, address: string): Row {
  const { username, invited_by, expires_at } = invitation;
  return {
    key: username,
    mark: monogram(username),
    title: username,
    lines: [
      [
        `As ${roleText(invitation)}`,
        `invited by ${invited_by ?? 'an operator'}`,
        ['expires ', <Time at={expires_at} />],
      ],
    ],
    buttons: [
      {
        label: 'Revoke',
        action: `${address}/invitations/revoke`,
        hidden: { username },
        about: `the invitation of ${username}`,
      },
    ],
  };
}
