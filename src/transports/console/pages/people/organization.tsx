import { isName } from '../../../../../packages/core/src/domain/agents/handles.ts';
import { listAgentStates } from '../../../../services/people/agent-states.ts';
import { setNameOfOrganization } from '../../../../services/people/display-names.ts';
import {
  inviteMember,
  listInvitationsTo,
  revokeInvitationToMember,
} from '../../../../services/people/membership-invitations.ts';
import { changeRole, requireOrganization } from '../../../../services/people/memberships.ts';
import { AgentTable } from '../../components/agent-table.tsx';
import { Card, Heading } from '../../components/content.tsx';
import { ButtonLink } from '../../components/form.tsx';
import { selectField, textField } from '../../define/fields.tsx';
import { formSection } from '../../define/form.tsx';
import { listSection, toPage } from '../../define/list.tsx';
import { definePage, type PageVisit } from '../../define/page.tsx';
import { displayName } from './account-fields.tsx';
import { memberRow } from './member-rows.tsx';
import { pendingInvitationRow } from './membership-invitations.tsx';

const pageSize = 50;

const readRole = (role: string | null) => (role === 'admin' ? 'admin' : 'member');

/** A request to the page of an organization. */
type OrganizationVisit = Awaited<ReturnType<typeof loadOrganization>>;

async function loadOrganization(visit: PageVisit) {
  const { read, person, params, query } = visit;
  const after = query.get('after') ?? '';
  const page = { after: isName(after) ? after : '', limit: pageSize + 1 };
  const organization = await read(requireOrganization, person, params['slug'] ?? '', page);
  const isAdmin = organization.role === 'admin';
  return { ...visit, address: organizationAddress(organization.slug), organization, isAdmin };
}

/** An organization and its members. */
export const organizationPage = definePage<OrganizationVisit>({
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
  sections: [
    listSection({
      title: 'Members',
      label: 'People',
      noun: 'members',
      empty: 'No members.',
      read: async ({ organization: { members } }) =>
        toPage(members, pageSize, ({ username }) => ({ after: username })),
      row: (member, visit) => memberRow(member, visit),
    }),
    async ({ read, person, organization, isAdmin }) => {
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
    },
    listSection({
      title: 'Pending invitations',
      label: 'Pending invitations',
      read: async ({ read, organization, isAdmin }) => ({
        items: isAdmin ? await read(listInvitationsTo, organization) : [],
      }),
      row: (invitation, { address }) => pendingInvitationRow(invitation, address),
    }),
    ({ address, isAdmin }) =>
      isAdmin && (
        <p>
          <a href={`${address}/audit`}>Audit log</a>
        </p>
      ),
    formSection({
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
    formSection({
      name: 'invitations',
      title: 'Invite a person',
      isShown: ({ isAdmin }) => isAdmin,
      fields: {
        username: textField(
          'Username',
          'Username of a person with an account here. The person becomes a member by accepting within 14 days.',
          { maxlength: 32, plain: true, required: true },
        ),
        role: selectField('Role', [
          { value: 'member', text: 'Member: manages own agents' },
          { value: 'admin', text: 'Admin: manages members and all agents' },
        ]),
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
  ],
  changes: {
    async roles({ organization: { slug }, person, parts, form: sent, write }) {
      const username = sent.get('username') ?? '';
      const role = readRole(sent.get('role'));
      await parts.publishRevocations(await write(changeRole, person, { slug, username, role }));
      return `${username} is now ${role === 'admin' ? 'an admin' : 'a member'}.`;
    },
    async 'invitations/revoke'({ organization: { slug }, person, form: sent, write }) {
      const username = sent.get('username') ?? '';
      await write(revokeInvitationToMember, person, { slug, username });
      return `Revoked the invitation of ${username}.`;
    },
  },
});

/** The path of an organization's page. */
export function organizationAddress(slug: string): string {
  return `/console/organizations/${slug}`;
}
