import { authorFromPerson } from '../../../../../packages/core/src/domain/auth/audit.ts';
import { DomainError } from '../../../../../packages/core/src/domain/errors.ts';
import {
  acceptInvitation,
  declineInvitation,
  type MembershipInvitation,
  revokeInvitationToMember,
} from '../../../../services/people/membership-invitations.ts';
import { monogram } from '../../components/agent-rows.tsx';
import { Button, Form } from '../../components/form.tsx';
import { Rows } from '../../components/rows.tsx';
import { Time } from '../../components/time.tsx';
import { redirectOrWarn } from '../../form-errors.ts';
import type { PageParts } from '../../parts.ts';
import { action, type ConsoleRoute } from '../../route.ts';

const path = '/console/organizations/:slug';

/** Accepting, declining and revoking invitations to organizations. */
export function membershipInvitationRoutes({ unitOfWork }: PageParts): ConsoleRoute[] {
  return [
    action(`${path}/invitation`, ({ params, person, form }) => {
      const slug = params['slug'] ?? '';
      const decision = form.get('decision');
      return redirectOrWarn('/console/organizations', async () => {
        if (decision !== 'accept' && decision !== 'decline')
          throw new DomainError('VALIDATION_ERROR', 'Press Accept or Decline.');
        const accepts = decision === 'accept';
        const decide = accepts ? acceptInvitation : declineInvitation;
        await unitOfWork.write(authorFromPerson(person), (work) => decide(work, person, slug));
        return accepts ? `You are now a member of ${slug}.` : `Declined the invitation to ${slug}.`;
      });
    }),
    action(`${path}/invitations/revoke`, ({ params, person, form }) => {
      const slug = params['slug'] ?? '';
      const username = form.get('username') ?? '';
      return redirectOrWarn(`/console/organizations/${encodeURIComponent(slug)}`, async () => {
        await unitOfWork.write(authorFromPerson(person), (work) =>
          revokeInvitationToMember(work, person, { slug, username }),
        );
        return `Revoked the invitation of ${username}.`;
      });
    }),
  ];
}

export interface InvitationsToPersonProps {
  invitations: readonly MembershipInvitation[];
}

/** The invitations of the signed-in person, to accept or decline. */
export function InvitationsToPerson({ invitations }: InvitationsToPersonProps) {
  const rows = invitations.map(({ slug, role, invited_by, expires_at }) => ({
    key: slug,
    mark: monogram(slug),
    title: slug,
    text: (
      <>
        {invited_by ?? 'An operator'} invites you as {role === 'admin' ? 'an admin' : 'a member'} · expires{' '}
        <Time at={expires_at} />
      </>
    ),
    side: (
      <Form action={`/console/organizations/${slug}/invitation`} class="inline">
        <Button name="decision" value="accept">
          Accept<span class="visually-hidden"> the invitation to {slug}</span>
        </Button>
        <Button kind="quiet" name="decision" value="decline">
          Decline<span class="visually-hidden"> the invitation to {slug}</span>
        </Button>
      </Form>
    ),
  }));
  return <Rows label="Invitations" rows={rows} />;
}

export interface PendingInvitationsProps {
  invitations: readonly MembershipInvitation[];
}

/** The pending invitations to an organization at this address, for its admins. */
export function PendingInvitations({ address, invitations }: PendingInvitationsProps & { address: string }) {
  const rows = invitations.map(({ username, role, invited_by, expires_at }) => ({
    key: username,
    mark: monogram(username),
    title: username,
    text: (
      <>
        As {role === 'admin' ? 'an admin' : 'a member'} · invited by {invited_by ?? 'an operator'} · expires{' '}
        <Time at={expires_at} />
      </>
    ),
    side: (
      <Form action={`${address}/invitations/revoke`} class="inline" hidden={{ username }}>
        <Button kind="quiet">
          Revoke<span class="visually-hidden"> the invitation of {username}</span>
        </Button>
      </Form>
    ),
  }));
  return <Rows label="Pending invitations" rows={rows} />;
}
