import { authorFromPerson } from '../../../../domain/auth/audit.ts';
import { isName } from '../../../../domain/agents/handles.ts';
import type { Person } from '../../../../domain/auth/person.ts';
import { addMember, changeRole, requireOrganization } from '../../../../services/people/memberships.ts';
import { successFlash } from '../../flash.ts';
import { Card, Heading, ErrorNotice } from '../../components/content.tsx';
import { Field, Select } from '../../components/field.tsx';
import { Actions, Button, ButtonLink, Form } from '../../components/form.tsx';
import { NextPage } from '../../components/next-page.tsx';
import { redirectOrWarn, formPage, orShowFormAgain, type FormRefusal } from '../../form-errors.ts';
import type { PageParts } from '../../parts.ts';
import { action, type ConsoleRoute, page, type PersonVisit, type ShownPage } from '../../route.ts';
import { MemberRows } from './member-rows.tsx';

const path = '/console/organizations/:slug';
const pageSize = 50;

/** An organization and its people. */
export function organizationRoutes({ unitOfWork, publishRevocations, limits }: PageParts): ConsoleRoute[] {
  /** Refuses what is not the person's before anything else is looked at. */
  const shown = ({ params, person }: PersonVisit, after = '') =>
    unitOfWork.readAsSystem((all) =>
      requireOrganization(all, person, params['slug'] ?? '', { after, limit: pageSize + 1 }),
    );

  return [
    page(path, async (visit) => {
      const after = visit.query.get('after') ?? '';
      const organization = await shown(visit, isName(after) ? after : '');
      return organizationPage(visit.person, organization);
    }),
    action(`${path}/members`, async (visit) => {
      const organization = await shown(visit);
      const { slug } = organization;
      const entered = { username: (visit.form.get('username') ?? '').trim(), role: readRole(visit.form) };
      return orShowFormAgain(
        async () => {
          // The answer tells whether somebody has the name: not to be asked for all names there could be.
          await limits.consume('add_member', visit.person.account_id);
          await unitOfWork.writeAsSystem(
            (work) => addMember(work, visit.person, { slug, ...entered }),
            authorFromPerson(visit.person),
          );
          return {
            to: organizationAddress(slug),
            flash: successFlash(`${entered.username.toLowerCase()} belongs to ${slug} now.`),
          };
        },
        (refusal) => organizationPage(visit.person, organization, { ...entered, refusal }),
      );
    }),
    action(`${path}/roles`, async (visit) => {
      const { slug } = await shown(visit);
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
        return `${username} is ${role === 'admin' ? 'an admin' : 'a member'} now.`;
      });
    }),
  ];
}

/** The address of an organization's page. */
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
  refusal: FormRefusal;
}

function organizationPage(person: Person, organization: Organization, entered?: Entered): ShownPage {
  const { slug, role, members: found } = organization;
  const members = found.slice(0, pageSize);
  const last = found.length > pageSize ? members.at(-1) : undefined;
  const admin = role === 'admin';
  const { refusal } = entered ?? {};
  const body = (
    <>
      <Heading
        title={slug}
        back={{ href: '/console/organizations', text: 'Organizations' }}
        lead={
          admin
            ? 'You are an admin: you manage its people and all of its agents.'
            : 'You are a member: you manage the agents that are tied to you.'
        }
        action={
          <ButtonLink href={`/console/agents/new?place=${admin ? 'shared' : 'member'}:${slug}`}>
            New agent
          </ButtonLink>
        }
      />
      <ErrorNotice {...refusal} />
      <Card title="People">
        <MemberRows slug={slug} members={members} person={person} admin={admin} />
        <NextPage path={organizationAddress(slug)} what="people" next={last && { after: last.username }} />
      </Card>
      {admin && (
        <p>
          <a href={`${organizationAddress(slug)}/audit`}>Audit log</a>
        </p>
      )}
      {admin && (
        <Card title="Add somebody">
          <Form action={`${organizationAddress(slug)}/members`}>
            <Field
              name="username"
              label="Username"
              hint="Of a person with an account here."
              value={entered?.username}
              error={refusal?.fields['username']}
              maxlength={32}
              plain
              required
            />
            <Select
              name="role"
              label="Role"
              value={entered?.role ?? 'member'}
              options={[
                { value: 'member', text: 'Member: has agents tied to them' },
                { value: 'admin', text: 'Admin: manages people and all agents' },
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
  return formPage(slug, body, refusal);
}
