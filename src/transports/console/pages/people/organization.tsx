import { isName } from '../../../../../packages/core/src/domain/agents/handles.ts';
import { listAgentStates } from '../../../../services/people/agent-states.ts';
import { setNameOfOrganization } from '../../../../services/people/display-names.ts';
import {
  createInvitationLink,
  inviteMember,
  listInvitationsTo,
  revokeInvitationLink,
  revokeInvitationToMember,
} from '../../../../services/people/membership-invitations.ts';
import {
  changeRole,
  requireOrganization,
  type Member,
  removeMember,
  requireRemovableMember,
} from '../../../../services/people/memberships.ts';
import { AgentTable } from '../../components/agent-table.tsx';
import { Card, Heading, Badge } from '../../components/content.tsx';
import { ButtonLink } from '../../components/form.tsx';
import { selectField, textField } from '../../define/fields.tsx';
import { toPage } from '../../define/list.tsx';
import { defineConfirmation, definePage } from '../../define/page.tsx';
import type { PageVisit } from '../../define/section.ts';
import { displayName } from './account-fields.tsx';
import { pendingInvitationRow } from './organizations.tsx';
import { secretPage } from '../../components/secrets.tsx';
import { type Row, Time } from '../../components/rows.tsx';

/** A member of an organization with the allowed actions. */
function memberRow(
  { username, role, created_at }: Member,
  { person, isAdmin, isOnlyAdmin }: OrganizationVisit,
): Row {
  const isSelf = username === person.username;
  const canChange = !(isSelf && isOnlyAdmin);
  const other = role === 'admin' ? 'member' : 'admin';
  return {
    key: username,
    title: [
      username,
      isSelf && [' ', <Badge>You</Badge>],
      role === 'admin' && [' ', <Badge tone="accent">Admin</Badge>],
    ],
    text: ['Since ', <Time at={created_at} />],
    buttons: [
      isAdmin &&
        canChange && {
          label: `Make ${other}`,
          action: 'roles',
          hidden: { username, role: other },
          about: `of ${username}`,
        },
      (isAdmin || isSelf) &&
        canChange && {
          label: isSelf ? 'Leave' : 'Remove',
          href: `members/${username}/remove`,
          about: isSelf ? undefined : username,
        },
    ],
  };
}

/** Removes a member from an organization, or lets a member leave. */
export const memberRemovePage = defineConfirmation({
  path: '/console/organizations/:slug/members/:username/remove',
  async load({ read, person, params: { slug = '', username = '' } }) {
    await read(requireRemovableMember, person, { slug, username });
    return { slug, username, isSelf: username === person.username };
  },
  title: ({ slug, username, isSelf }) => (isSelf ? `Leave ${slug}?` : `Remove ${username} from ${slug}?`),
  text: ({ slug, username, isSelf }) => (
    <>
      <p>
        {isSelf ? 'You lose' : `${username} loses`} access to the agents of {slug} immediately, and apps that{' '}
        {isSelf ? 'you' : 'they'} connected to them are disconnected. The agents stay with {slug} and its
        admins.
      </p>
      <p>
        Credentials and webhooks of the agents linked with {isSelf ? 'you' : username} end. Those of shared
        agents keep working, no matter who created them.{' '}
        {isSelf
          ? 'Give the ones that others need to an admin.'
          : 'Revoke the ones that they know. Pause or delete the agents that they managed.'}
      </p>
    </>
  ),
  button: ({ isSelf }) => (isSelf ? 'Leave' : 'Remove'),
  back: ({ slug }) => organizationAddress(slug),
  async change({ slug, username, isSelf, person, parts, write }) {
    await parts.publishRevocations(await write(removeMember, person, { slug, username }));
    if (!isSelf) return `Removed ${username} from ${slug}.`;
    return { to: '/console/organizations', flash: `You have left ${slug}.` };
  },
});

const pageSize = 50;

const roleField = selectField('Role', [
  { value: 'member', text: 'Member: manages own agents' },
  { value: 'admin', text: 'Admin: manages members and all agents' },
]);

const readRole = (role: string | null) => (role === 'admin' ? 'admin' : 'member');

/** A request to the page of an organization. */
type OrganizationVisit = PageVisit & Awaited<ReturnType<typeof loadOrganization>>;

async function loadOrganization({ read, person, params, query }: PageVisit) {
  const after = query.get('after') ?? '';
  const page = { after: isName(after) ? after : '', limit: pageSize + 1 };
  const organization = await read(requireOrganization, person, params['slug'] ?? '', page);
  const isAdmin = organization.role === 'admin';
  const admins = organization.members.filter(({ role }) => role === 'admin');
  const isComplete = page.after === '' && organization.members.length <= pageSize;
  // Then the person stays one.
  const isOnlyAdmin = isAdmin && isComplete && admins.length === 1;
  return { address: organizationAddress(organization.slug), organization, isAdmin, isOnlyAdmin };
}

async function showAgents({ read, person, organization, isAdmin }: OrganizationVisit) {
  const all = await read(listAgentStates, person.account_id, { order: 'attention' });
  const agents = all.filter(({ owner_name }) => owner_name === organization.slug);
  return (
    <Card title={isAdmin ? 'Agents' : 'Your agents'}>
      {agents.length === 0 ? <p>No agents yet.</p> : <AgentTable agents={agents.slice(0, pageSize)} />}
      {agents.length > pageSize && (
        <p>
          <a href="/console/agents">All {agents.length} agents</a>
        </p>
      )}
    </Card>
  );
}

/** An organization and its members. */
export const organizationPage = definePage({
  path: '/console/organizations/:slug',
  load: loadOrganization,
  title: ({ organization }) => organization.slug,
  heading: ({ organization: { slug, display_name }, isAdmin }) => (
    <Heading
      title={display_name === null ? slug : `${display_name} (${slug})`}
      back={{ href: '/console/organizations', text: 'Organizations' }}
      lead={
        isAdmin
          ? 'You are an admin: you manage its members and all its agents.'
          : 'You are a member: you manage your own agents of the organization.'
      }
      action={
        <ButtonLink href={`/console/agents/new?owner=${isAdmin ? 'shared' : 'member'}:${slug}`}>
          New agent
        </ButtonLink>
      }
    />
  ),
  sections: ({ form, list }) => [
    list({
      title: 'Members',
      label: 'People',
      noun: 'members',
      empty: 'No members.',
      read: ({ organization: { members } }) =>
        toPage(members, pageSize, ({ username }) => ({ after: username })),
      row: memberRow,
    }),
    showAgents,
    list({
      title: 'Pending invitations',
      read: ({ read, organization, isAdmin }) => (isAdmin ? read(listInvitationsTo, organization) : []),
      row: pendingInvitationRow,
    }),
    ({ address, isAdmin }) =>
      isAdmin && (
        <p>
          <a href={`${address}/audit`}>Audit log</a>
        </p>
      ),
    form({
      name: 'name',
      title: 'Name',
      isShown: ({ isAdmin }) => isAdmin,
      fields: {
        display_name: displayName(
          'Others see it beside the slug in the directory. Leave it empty to show the slug.',
        ),
      },
      values: ({ organization }) => ({ display_name: organization.display_name ?? undefined }),
      button: 'Save name',
      async submit({ organization: { slug }, person, write }, { display_name }) {
        await write(setNameOfOrganization, person, { slug, text: display_name });
        return 'Name saved.';
      },
    }),
    form({
      name: 'invitations',
      title: 'Invite a person',
      isShown: ({ isAdmin }) => isAdmin,
      fields: {
        username: textField(
          'Username',
          'Username of a person with an account here. The person becomes a member by accepting within 14 days.',
          { maxlength: 32, plain: true, required: true },
        ),
        role: roleField,
      },
      values: () => ({ role: 'member' }),
      button: 'Invite',
      async submit({ organization: { slug }, person, parts, write }, { username, role }) {
        // The result reveals whether a username exists, so the number of attempts is limited.
        await parts.limits.consume('add_member', person.account_id);
        await write(inviteMember, person, { slug, username, role: readRole(role) });
        return `Invited ${username.toLowerCase()}. They become a member when they accept, under Organizations.`;
      },
    }),
    form({
      name: 'links',
      title: 'Invite by link',
      text: 'One person can become a member with it, also with a new account. It ends after 7 days.',
      isShown: ({ isAdmin }) => isAdmin,
      fields: { role: roleField },
      values: () => ({ role: 'member' }),
      button: 'Create link',
      async submit({ address, organization: { slug }, person, write }, { role }) {
        const link = await write(createInvitationLink, person, { slug, role: readRole(role) });
        return secretPage({
          heading: <Heading title="Invitation" />,
          secrets: [{ label: 'Address', value: link }],
          text: <p>Send it only to the person that you invite to {slug}.</p>,
          next: address,
        });
      },
    }),
  ],
  changes: {
    async roles({ organization: { slug }, person, parts, form: sent, write }) {
      const username = sent.get('username') ?? '';
      const role = readRole(sent.get('role'));
      await parts.publishRevocations(await write(changeRole, person, { slug, username, role }));
      return `${username} is now ${role === 'admin' ? 'an admin' : 'a member'}.`;
    },
    async 'invitations/revoke'({ organization: { slug }, person, form: sent, write }) {
      const link = sent.get('link');
      if (link !== null) {
        const number = /^\d{1,15}$/.test(link) ? Number(link) : 0;
        await write(revokeInvitationLink, person, { slug, number });
        return 'Revoked the link.';
      }
      const username = sent.get('username') ?? '';
      await write(revokeInvitationToMember, person, { slug, username });
      return `Revoked the invitation of ${username}.`;
    },
  },
});

/** The path of an organization's page. */
function organizationAddress(slug: string): string {
  return `/console/organizations/${slug}`;
}
