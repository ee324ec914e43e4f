import { authorFromPerson } from '../../../../domain/auth/audit.ts';
import { isName } from '../../../../domain/agents/handles.ts';
import { foundOrganization, listOrganizations } from '../../../../services/people/memberships.ts';
import type { Person } from '../../../../domain/auth/actor.ts';
import { successFlash } from '../../flash.ts';
import { monogram } from '../../components/agent-rows.tsx';
import { Badge, Card, Heading, ErrorNotice } from '../../components/content.tsx';
import { NameField } from '../../components/name-field.tsx';
import { Actions, Button, Form } from '../../components/form.tsx';
import { Rows } from '../../components/rows.tsx';
import { NextPage } from '../../components/next-page.tsx';
import { Time } from '../../components/time.tsx';
import type { PageParts } from '../../parts.ts';
import { formPage, orShowFormAgain, type FormRefusal } from '../../form-errors.ts';
import { action, type ConsoleRoute, page, type ShownPage } from '../../route.ts';

const path = '/console/organizations';
const pageSize = 50;

/** The organizations of a person, and founding one. */
export function organizationListRoutes({ unitOfWork, limits }: PageParts): ConsoleRoute[] {
  const list = (person: Person, after = '') =>
    unitOfWork.readAsSystem((all) => listOrganizations(all, person, { after, limit: pageSize + 1 }));

  return [
    page(path, async ({ query, person }) => {
      const after = query.get('after') ?? '';
      return organizationsPage({ found: await list(person, isName(after) ? after : '') });
    }),
    action(path, ({ form, person }) => {
      const slug = form.get('slug') ?? '';
      return orShowFormAgain(
        async () => {
          // As a sign-up does, the answer tells which names are taken.
          await limits.consume('sign_up', person.account_id);
          const made = await unitOfWork.writeAsSystem(
            (work) => foundOrganization(work, person, slug),
            authorFromPerson(person),
          );
          return {
            to: `${path}/${made.slug}`,
            flash: successFlash(`${made.slug} is founded. You are its admin.`),
          };
        },
        async (refusal) => organizationsPage({ found: await list(person), slug, refusal }),
        { DUPLICATE_HANDLE: 'slug' },
      );
    }),
  ];
}

interface OrganizationsPage {
  found: Awaited<ReturnType<typeof listOrganizations>>;
  /** As it was entered. */
  slug?: string;
  refusal?: FormRefusal;
}

function organizationsPage({ found, slug, refusal }: OrganizationsPage): ShownPage {
  const organizations = found.slice(0, pageSize);
  const last = found.length > pageSize ? organizations.at(-1) : undefined;
  const rows = organizations.map((each) => ({
    key: each.id,
    mark: monogram(each.slug),
    title: <a href={`${path}/${each.slug}`}>{each.slug}</a>,
    text: (
      <>
        Founded <Time at={each.created_at} />
      </>
    ),
    side: (
      <Badge tone={each.role === 'admin' ? 'accent' : 'plain'}>
        {each.role === 'admin' ? 'Admin' : 'Member'}
      </Badge>
    ),
  }));
  const body = (
    <>
      <Heading
        title="Organizations"
        lead="An organization owns agents of its own. Its admins manage all of them; each member has those tied to them."
      />
      {rows.length > 0 && (
        <Card title="You belong to">
          <Rows label="Organizations" rows={rows} />
        </Card>
      )}
      <NextPage path={path} what="organizations" next={last && { after: last.slug }} />
      <Card title="Found an organization">
        <ErrorNotice {...refusal} />
        <Form action={path}>
          <NameField
            name="slug"
            label="Name"
            permanenceHint="The handles of its agents begin with it, and it cannot be changed."
            value={slug}
            error={refusal?.fields['slug']}
          />
          <Actions>
            <Button>Found the organization</Button>
          </Actions>
        </Form>
      </Card>
    </>
  );
  return formPage('Organizations', body, refusal);
}
