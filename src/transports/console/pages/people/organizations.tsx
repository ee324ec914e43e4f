import { isName } from '../../../../../packages/core/src/domain/agents/handles.ts';
import {
  listInvitationsOfPerson,
  acceptInvitation,
  declineInvitation,
  type MembershipInvitation,
} from '../../../../services/people/membership-invitations.ts';
import { foundOrganization, listOrganizations } from '../../../../services/people/memberships.ts';
import { monogram, Time, type Row } from '../../components/rows.tsx';
import { toPage } from '../../define/list.tsx';
import { definePage } from '../../define/page.tsx';
import { name } from './account-fields.tsx';
import { DomainError } from '../../../../../packages/core/src/domain/errors.ts';
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

/** A pending invitation on the page of the organization, for its admins. */
export function pendingInvitationRow(invitation: MembershipInvitation): Row {
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
        action: 'invitations/revoke',
        hidden: { username },
        about: `the invitation of ${username}`,
      },
    ],
  };
}

const pageSize = 50;

/** Lists the organizations of a person and creates new ones. */
export const organizationsPage = definePage({
  path: '/console/organizations',
  title: 'Organizations',
  lead: 'An organization owns agents. Its admins manage all of them; each member manages their own.',
  sections: ({ form, list }) => [
    list({
      title: 'Invitations',
      read: ({ read, person }) => read(listInvitationsOfPerson, person),
      row: (invitation) => invitationRow(invitation),
    }),
    list({
      title: 'Your organizations',
      label: 'Organizations',
      noun: 'organizations',
      async read({ read, person, query }) {
        const after = query.get('after') ?? '';
        const where = { after: isName(after) ? after : '', limit: pageSize + 1 };
        return toPage(await read(listOrganizations, person, where), pageSize, ({ slug }) => ({
          after: slug,
        }));
      },
      row: ({ id, slug, role, created_at }, { address }) => ({
        key: id,
        mark: monogram(slug),
        title: <a href={`${address}/${slug}`}>{slug}</a>,
        text: ['Created ', <Time at={created_at} />],
        badges: [role === 'admin' ? ['accent', 'Admin'] : ['plain', 'Member']],
      }),
    }),
    form({
      title: 'Create an organization',
      fields: {
        slug: name('Name', 'The handles of its agents start with it. It cannot be changed later.'),
      },
      button: 'Create organization',
      errors: { DUPLICATE_HANDLE: 'slug' },
      async submit({ address, person, parts, write }, entered) {
        // Like a sign-up, the result reveals which names are taken.
        await parts.limits.consume('sign_up', person.account_id);
        const { slug } = await write(foundOrganization, person, entered.slug);
        return { to: `${address}/${slug}`, flash: `Created ${slug}. You are its admin.` };
      },
    }),
  ],
});
