import { byPerson } from '../../domain/audit.ts';
import { isName } from '../../domain/handles.ts';
import { foundOrganization, listOrganizations } from '../../services/person-organizations.ts';
import type { Person } from '../../domain/person.ts';
import { said } from '../flash.ts';
import { monogram } from '../kit/agents.tsx';
import { Badge, Card, Heading, Refused } from '../kit/content.tsx';
import { NameField } from '../kit/name-field.tsx';
import { Actions, Button, Form } from '../kit/form.tsx';
import { Rows } from '../kit/list.tsx';
import { NextPage } from '../kit/next-page.tsx';
import { Time } from '../kit/time.tsx';
import type { PageParts } from '../parts.ts';
import { formPage, orAgain, type Refusal } from '../refusal.ts';
import { action, type ConsoleRoute, page, type ShownPage } from '../route.ts';

const path = '/console/organizations';
const pageSize = 50;

/** The organizations of a person, and founding one. */
export function organizationListRoutes({ unitOfWork, limits }: PageParts): ConsoleRoute[] {
  const list = (person: Person, after = '') =>
    unitOfWork.consult((all) => listOrganizations(all, person, { after, limit: pageSize + 1 }));

  return [
    page(path, async ({ query, person }) => {
      const after = query.get('after') ?? '';
      return organizationsPage({ found: await list(person, isName(after) ? after : '') });
    }),
    action(path, ({ form, person }) => {
      const slug = form.get('slug') ?? '';
      return orAgain(
        async () => {
          // As a sign-up does, the answer tells which names are taken.
          await limits.spend('sign_up', person.account_id);
          const made = await unitOfWork.administer(
            (work) => foundOrganization(work, person, slug),
            byPerson(person),
          );
          return { to: `${path}/${made.slug}`, flash: said(`${made.slug} is founded. You are its admin.`) };
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
  refusal?: Refusal;
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
        <Refused {...refusal} />
        <Form action={path}>
          <NameField
            name="slug"
            label="Name"
            lasting="The handles of its agents begin with it, and it cannot be changed."
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
