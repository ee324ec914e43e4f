import { isName } from '../../../../../packages/core/src/domain/agents/handles.ts';
import {
  listInvitationsOfPerson,
  acceptInvitation,
  answerInvitationLink,
  declineInvitation,
  type MembershipInvitation,
  requireInvitationLink,
} from '../../../../services/people/membership-invitations.ts';
import { foundOrganization, listOrganizations } from '../../../../services/people/memberships.ts';
import { Time, type Row } from '../../components/rows.tsx';
import { toPage } from '../../define/list.tsx';
import { definePage } from '../../define/page.tsx';
import { name, SignedInAs } from './account-fields.tsx';
import { DomainError } from '../../../../../packages/core/src/domain/errors.ts';
import { Decision } from '../../components/form.tsx';
import { redirectOrWarn } from '../../form-errors.ts';
import { focusPage } from '../../define/focus-page.tsx';
import { action, page } from '../../route.ts';

/** Accepts or declines an invitation to an organization. */
export const invitationAction = action(
  '/console/organizations/:slug/invitation',
  ({ params: { slug = '' }, person, form, write }) =>
    redirectOrWarn('/console/organizations', async () => {
      const accepts = readDecision(form);
      await write(accepts ? acceptInvitation : declineInvitation, person, slug);
      return accepts ? `You are now a member of ${slug}.` : `Declined the invitation to ${slug}.`;
    }),
);

/** Whether the person accepts. @throws {DomainError} VALIDATION_ERROR */
function readDecision(form: URLSearchParams): boolean {
  const decision = form.get('decision');
  if (decision !== 'accept' && decision !== 'decline')
    throw new DomainError('VALIDATION_ERROR', 'Press Accept or Decline.');
  return decision === 'accept';
}

const linkPath = '/console/invitations/:secret';

/** The page of an invitation by link. A person without a session signs in or signs up, and returns. */
export const invitationLinkPages = [
  page(linkPath, async ({ ctx, params, person, read }) => {
    const invitation = await read(requireInvitationLink, person, params['secret'] ?? '');
    const { slug, display_name, is_member } = invitation;
    const title = display_name === null ? slug : `${display_name} (${slug})`;
    return focusPage(
      `Join ${title}`,
      is_member ? (
        <p>
          You are a member of <a href={`/console/organizations/${slug}`}>{slug}</a> already. The link can
          still be used by another person.
        </p>
      ) : (
        <>
          <p>{invitationText(invitation)}. An organization owns agents that its members manage.</p>
          <Decision action={ctx.path} yes="accept" no="decline" isLarge />
        </>
      ),
      { aside: <SignedInAs username={person.username} to={ctx.path} /> },
    );
  }),
  action(linkPath, async ({ params: { secret = '' }, person, form, write }) => {
    const accepts = readDecision(form);
    const slug = await write(answerInvitationLink, person, { secret, accepts });
    return accepts
      ? { to: `/console/organizations/${slug}`, flash: `You are a member of ${slug}.` }
      : { to: '/console', flash: `Declined the invitation to ${slug}.` };
  }),
];

const roleText = ({ role }: MembershipInvitation) => (role === 'admin' ? 'an admin' : 'a member');

const invitationText = (invitation: MembershipInvitation): string =>
  `${invitation.invited_by ?? 'An operator'} invites you as ${roleText(invitation)}`;

/** An invitation of the signed-in person, to accept or decline. */
export function invitationRow(invitation: MembershipInvitation): Row {
  const { slug, expires_at } = invitation;
  return {
    key: slug,
    title: slug,
    lines: [[invitationText(invitation), ['expires ', <Time at={expires_at} />]]],
    side: (
      <Decision
        action={`/console/organizations/${slug}/invitation`}
        yes="accept"
        no="decline"
        about={`the invitation to ${slug}`}
      />
    ),
  };
}

/** A pending invitation on the page of the organization, for its admins. */
export function pendingInvitationRow(invitation: MembershipInvitation): Row {
  const { number, username, invited_by, expires_at } = invitation;
  return {
    key: String(number),
    title: username ?? 'By link, for one person',
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
        hidden: username === null ? { link: String(number) } : { username },
        about: username === null ? 'the link' : `the invitation of ${username}`,
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
