import { authorFromPerson } from '../../../../domain/auth/audit.ts';
import { isName } from '../../../../domain/agents/handles.ts';
import type { Person } from '../../../../domain/auth/actor.ts';
import { addMember, changeRole, requireOrganization } from '../../../../services/people/memberships.ts';
import { successFlash } from '../../flash.ts';
import { Card, Heading, ErrorNotice } from '../../components/content.tsx';
import { Field, Select } from '../../components/field.tsx';
import { Actions, Button, ButtonLink, Form } from '../../components/form.tsx';
import { NextPage } from '../../components/next-page.tsx';
import { redirectOrWarn, formPage, orShowFormAgain, type FormErrors } from '../../form-errors.ts';
import type { PageParts } from '../../parts.ts';
import { action, type ConsoleRoute, page, type PersonVisit, type ShownPage } from '../../route.ts';
import { MemberRows } from './member-rows.tsx';

const path = '/console/organizations/:slug';
const pageSize = 50;

/** An organization and its members. */
export function organizationRoutes({ unitOfWork, publishRevocations, limits }: PageParts): ConsoleRoute[] {
  /** Loads the organization, first of all. @throws {DomainError} if the person is not a member. */
  const loadOrganization = ({ params, person }: PersonVisit, after = '') =>
    unitOfWork.readAsSystem((repositories) =>
      requireOrganization(repositories, person, params['slug'] ?? '', { after, limit: pageSize + 1 }),
    );

  return [
    page(path, async (visit) => {
      const after = visit.query.get('after') ?? '';
      const organization = await loadOrganization(visit, isName(after) ? after : '');
      return organizationPage(visit.person, organization);
    }),
    action(`${path}/members`, async (visit) => {
      const organization = await loadOrganization(visit);
      const { slug } = organization;
      const entered = { username: (visit.form.get('username') ?? '').trim(), role: readRole(visit.form) };
      return orShowFormAgain(
        async () => {
          // The result reveals whether a username exists, so the number of attempts is limited.
          await limits.consume('add_member', visit.person.account_id);
          await unitOfWork.writeAsSystem(
            (work) => addMember(work, visit.person, { slug, ...entered }),
            authorFromPerson(visit.person),
          );
          return {
            to: organizationAddress(slug),
            flash: successFlash(`Added ${entered.username.toLowerCase()} to ${slug}.`),
          };
        },
        (formErrors) => organizationPage(visit.person, organization, { ...entered, formErrors }),
      );
    }),
    action(`${path}/roles`, async (visit) => {
      const { slug } = await loadOrganization(visit);
      const username = visit.form.get('username') ?? '';
      const role = readRole(visit.form);
      return redirectOrWarn(organizationAddress(slug), async () => {
        const change = { slug, username, role };
        await publishRevocations(
          await unitOfWork.writeAsSystem(
            (work) => changeRole(work, visit.person, change),
            authorFromPerson(visit.person),
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

type Organization = Awaited<ReturnType<typeof requireOrganization>>;

interface Entered {
  username: string;
  role: 'admin' | 'member';
  formErrors: FormErrors;
}

function organizationPage(person: Person, organization: Organization, entered?: Entered): ShownPage {
  const { slug, role, members: found } = organization;
  const members = found.slice(0, pageSize);
  const last = found.length > pageSize ? members.at(-1) : undefined;
  const isAdmin = role === 'admin';
  const { formErrors } = entered ?? {};
  const body = (
    <>
      <Heading
        title={slug}
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
      {isAdmin && (
        <p>
          <a href={`${organizationAddress(slug)}/audit`}>Audit log</a>
        </p>
      )}
      {isAdmin && (
        <Card title="Add a member">
          <Form action={`${organizationAddress(slug)}/members`}>
            <Field
              name="username"
              label="Username"
              hint="Username of a person with an account here."
              value={entered?.username}
              error={formErrors?.fields['username']}
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
              <Button>Add</Button>
            </Actions>
          </Form>
        </Card>
      )}
    </>
  );
  return formPage(slug, body, formErrors);
}
