import { system } from '../../../../../packages/core/src/domain/auth/audit.ts';
import { authorFromPerson } from '../../../../../packages/core/src/domain/auth/audit.ts';
import { isName } from '../../../../../packages/core/src/domain/agents/handles.ts';
import type { Person } from '../../../../../packages/core/src/domain/auth/actor.ts';
import { inviteMember, listInvitationsTo } from '../../../../services/people/membership-invitations.ts';
import { setNameOfOrganization } from '../../../../services/people/display-names.ts';
import { changeRole, requireOrganization } from '../../../../services/people/memberships.ts';
import { type AgentOfPerson, listAgentsOfPerson } from '../../../../services/people/agents.ts';
import { successFlash } from '../../flash.ts';
import { AgentRows } from '../../components/agent-rows.tsx';
import { Card, Heading, ErrorNotice } from '../../components/content.tsx';
import { Field, Select } from '../../components/field.tsx';
import { Actions, Button, ButtonLink, Form } from '../../components/form.tsx';
import { NextPage } from '../../components/rows.tsx';
import { redirectOrWarn, formPage, orShowFormAgain, type FormErrors } from '../../form-errors.ts';
import type { PageParts } from '../../parts.ts';
import { action, type ConsoleRoute, page, type PersonVisit, type ShownPage } from '../../route.ts';
import { DisplayNameForm } from './display-name-form.tsx';
import { PendingInvitations, type PendingInvitationsProps } from './membership-invitations.tsx';
import { MemberRows } from './member-rows.tsx';

const path = '/console/organizations/:slug';
const pageSize = 50;

/** An organization and its members. */
export function organizationRoutes({ unitOfWork, publishRevocations, limits }: PageParts): ConsoleRoute[] {
  /** Loads the organization, first of all. @throws {DomainError} if the person is not a member. */
  const loadOrganization = ({ params, person }: PersonVisit, after = '') =>
    unitOfWork.read(system, async (work) => {
      const slug = params['slug'] ?? '';
      const found = await requireOrganization(work, person, slug, { after, limit: pageSize + 1 });
      const invitations = found.role === 'admin' ? await listInvitationsTo(work, found) : [];
      const agents = await listAgentsOfPerson(work, person.account_id);
      return { ...found, invitations, agents: agents.filter(({ owner_name }) => owner_name === found.slug) };
    });

  return [
    page(path, async (visit) => {
      const after = visit.query.get('after') ?? '';
      const organization = await loadOrganization(visit, isName(after) ? after : '');
      return organizationPage(visit.person, organization);
    }),
    action(`${path}/invitations`, async (visit) => {
      const organization = await loadOrganization(visit);
      const { slug } = organization;
      const entered = { username: (visit.form.get('username') ?? '').trim(), role: readRole(visit.form) };
      return orShowFormAgain(
        async () => {
          // The result reveals whether a username exists, so the number of attempts is limited.
          await limits.consume('add_member', visit.person.account_id);
          await unitOfWork.write(authorFromPerson(visit.person), (work) =>
            inviteMember(work, visit.person, { slug, ...entered }),
          );
          return {
            to: organizationAddress(slug),
            flash: successFlash(
              `Invited ${entered.username.toLowerCase()}. They become a member when they accept, under Organizations.`,
            ),
          };
        },
        (formErrors) => organizationPage(visit.person, organization, { ...entered, formErrors }),
      );
    }),
    action(`${path}/name`, async (visit) => {
      const organization = await loadOrganization(visit);
      const { slug } = organization;
      return orShowFormAgain(
        async () => {
          const change = { slug, text: visit.form.get('display_name') ?? '' };
          await unitOfWork.write(authorFromPerson(visit.person), (work) =>
            setNameOfOrganization(work, visit.person, change),
          );
          return { to: organizationAddress(slug), flash: successFlash('Name saved.') };
        },
        (formErrors) =>
          organizationPage(visit.person, organization, { username: '', role: 'member', formErrors }),
      );
    }),
    action(`${path}/roles`, async (visit) => {
      const { slug } = await loadOrganization(visit);
      const username = visit.form.get('username') ?? '';
      const role = readRole(visit.form);
      return redirectOrWarn(organizationAddress(slug), async () => {
        const change = { slug, username, role };
        await publishRevocations(
          await unitOfWork.write(authorFromPerson(visit.person), (work) =>
            changeRole(work, visit.person, change),
          ),
        );
        return `${username} is now ${role === 'admin' ? 'an admin' : 'a member'}.`;
      });
    }),
  ];
}

/** The path of an organization's page. */
export function organizationAddress(slug: string): string {
  return `/console/organizations/${slug}`;
}

function readRole(form: URLSearchParams): 'admin' | 'member' {
  return form.get('role') === 'admin' ? 'admin' : 'member';
}

type Organization = Awaited<ReturnType<typeof requireOrganization>> &
  Pick<PendingInvitationsProps, 'invitations'> & { agents: readonly AgentOfPerson[] };

interface Entered {
  username: string;
  role: 'admin' | 'member';
  formErrors: FormErrors;
}

function organizationPage(person: Person, organization: Organization, entered?: Entered): ShownPage {
  const { slug, display_name, role, members: found, invitations, agents } = organization;
  const members = found.slice(0, pageSize);
  const last = found.length > pageSize ? members.at(-1) : undefined;
  const isAdmin = role === 'admin';
  const { formErrors } = entered ?? {};
  const body = (
    <>
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
      <ErrorNotice {...formErrors} />
      <Card title="Members">
        <MemberRows slug={slug} members={members} person={person} isAdmin={isAdmin} />
        <NextPage path={organizationAddress(slug)} noun="members" next={last && { after: last.username }} />
      </Card>
      <Card title={isAdmin ? 'Agents' : 'Your agents'}>
        {agents.length === 0 ? <p>No agents yet.</p> : <AgentRows agents={agents.slice(0, pageSize)} />}
        {agents.length > pageSize && (
          <p>
            <a href="/console/agents">All {agents.length} agents</a>
          </p>
        )}
      </Card>
      {invitations.length > 0 && (
        <Card title="Pending invitations">
          <PendingInvitations address={organizationAddress(slug)} invitations={invitations} />
        </Card>
      )}
      {isAdmin && (
        <p>
          <a href={`${organizationAddress(slug)}/audit`}>Audit log</a>
        </p>
      )}
      {isAdmin && (
        <Card title="Name">
          <DisplayNameForm
            action={`${organizationAddress(slug)}/name`}
            value={display_name}
            hint="Others see it beside the slug in the directory. Leave it empty to show the slug."
            error={formErrors?.fields['display_name']}
          />
        </Card>
      )}
      {isAdmin && (
        <Card title="Invite a person">
          <InviteForm slug={slug} entered={entered} />
        </Card>
      )}
    </>
  );
  return formPage(slug, body, formErrors);
}

function InviteForm({ slug, entered }: { slug: string; entered: Entered | undefined }) {
  return (
    <Form action={`${organizationAddress(slug)}/invitations`}>
      <Field
        name="username"
        label="Username"
        hint="Username of a person with an account here. The person becomes a member by accepting within 14 days."
        value={entered?.username}
        error={entered?.formErrors.fields['username']}
        maxlength={32}
        plain
        required
      />
      <Select
        name="role"
        label="Role"
        value={entered?.role ?? 'member'}
        options={[
          { value: 'member', text: 'Member: manages own agents' },
          { value: 'admin', text: 'Admin: manages members and all agents' },
        ]}
      />
      <Actions>
        <Button>Invite</Button>
      </Actions>
    </Form>
  );
}
