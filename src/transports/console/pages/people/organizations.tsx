import { system } from '../../../../../packages/core/src/domain/auth/audit.ts';
import { authorFromPerson } from '../../../../../packages/core/src/domain/auth/audit.ts';
import { isName } from '../../../../../packages/core/src/domain/agents/handles.ts';
import { listInvitationsOfPerson } from '../../../../services/people/membership-invitations.ts';
import { foundOrganization, listOrganizations } from '../../../../services/people/memberships.ts';
import type { Person } from '../../../../../packages/core/src/domain/auth/actor.ts';
import { successFlash } from '../../flash.ts';
import { monogram } from '../../components/agent-rows.tsx';
import { Badge, Card, Heading, ErrorNotice } from '../../components/content.tsx';
import { NameField } from '../../components/field.tsx';
import { Actions, Button, Form } from '../../components/form.tsx';
import { Rows } from '../../components/rows.tsx';
import { NextPage } from '../../components/rows.tsx';
import { Time } from '../../components/time.tsx';
import type { PageParts } from '../../parts.ts';
import { InvitationsToPerson, type InvitationsToPersonProps } from './membership-invitations.tsx';
import { formPage, orShowFormAgain, type FormErrors } from '../../form-errors.ts';
import { action, type ConsoleRoute, page, type ShownPage } from '../../route.ts';

const path = '/console/organizations';
const pageSize = 50;

/** Lists the organizations of a person and creates new ones. */
export function organizationListRoutes({ unitOfWork, limits }: PageParts): ConsoleRoute[] {
  const list = (person: Person, after = '') =>
    unitOfWork.read(system, async (work) => {
      const [found, invitations] = await Promise.all([
        listOrganizations(work, person, { after, limit: pageSize + 1 }),
        listInvitationsOfPerson(work, person),
      ]);
      return { found, invitations };
    });

  return [
    page(path, async ({ query, person }) => {
      const after = query.get('after') ?? '';
      return organizationsPage(await list(person, isName(after) ? after : ''));
    }),
    action(path, ({ form, person }) => {
      const slug = form.get('slug') ?? '';
      return orShowFormAgain(
        async () => {
          // Like a sign-up, the result reveals which names are taken.
          await limits.consume('sign_up', person.account_id);
          const organization = await unitOfWork.write(authorFromPerson(person), (work) =>
            foundOrganization(work, person, slug),
          );
          return {
            to: `${path}/${organization.slug}`,
            flash: successFlash(`Created ${organization.slug}. You are its admin.`),
          };
        },
        async (formErrors) => organizationsPage({ ...(await list(person)), slug, formErrors }),
        { DUPLICATE_HANDLE: 'slug' },
      );
    }),
  ];
}

interface OrganizationsPage extends InvitationsToPersonProps {
  found: Awaited<ReturnType<typeof listOrganizations>>;
  /** Entered name. */
  slug?: string;
  formErrors?: FormErrors;
}

function organizationsPage({ found, invitations, slug, formErrors }: OrganizationsPage): ShownPage {
  const organizations = found.slice(0, pageSize);
  const last = found.length > pageSize ? organizations.at(-1) : undefined;
  const rows = organizations.map((organization) => ({
    key: organization.id,
    mark: monogram(organization.slug),
    title: <a href={`${path}/${organization.slug}`}>{organization.slug}</a>,
    text: (
      <>
        Created <Time at={organization.created_at} />
      </>
    ),
    side: (
      <Badge tone={organization.role === 'admin' ? 'accent' : 'plain'}>
        {organization.role === 'admin' ? 'Admin' : 'Member'}
      </Badge>
    ),
  }));
  const body = (
    <>
      <Heading
        title="Organizations"
        lead="An organization owns agents. Its admins manage all of them; each member manages their own."
      />
      {invitations.length > 0 && (
        <Card title="Invitations">
          <InvitationsToPerson invitations={invitations} />
        </Card>
      )}
      {rows.length > 0 && (
        <Card title="Your organizations">
          <Rows label="Organizations" rows={rows} />
        </Card>
      )}
      <NextPage path={path} noun="organizations" next={last && { after: last.slug }} />
      <Card title="Create an organization">
        <ErrorNotice {...formErrors} />
        <Form action={path}>
          <NameField
            name="slug"
            label="Name"
            permanenceHint="The handles of its agents start with it. It cannot be changed later."
            value={slug}
            error={formErrors?.fields['slug']}
          />
          <Actions>
            <Button>Create organization</Button>
          </Actions>
        </Form>
      </Card>
    </>
  );
  return formPage('Organizations', body, formErrors);
}
