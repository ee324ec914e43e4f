import { system } from '../../../../../packages/core/src/domain/auth/audit.ts';
import { type AuditAction, auditActions } from '../../../../../packages/core/src/domain/auth/audit.ts';
import { isHandle } from '../../../../../packages/core/src/domain/agents/handles.ts';
import { isId } from '../../../../../packages/core/src/domain/ids.ts';
import { readOrganizationAudit } from '../../../../services/people/organization-audit.ts';
import { Card, Heading } from '../../components/content.tsx';
import { Field, Select } from '../../components/field.tsx';
import { Button } from '../../components/form.tsx';
import { NextPage } from '../../components/rows.tsx';
import type { PageParts } from '../../parts.ts';
import { type ConsoleRoute, page, type ShownPage } from '../../route.ts';
import { AuditRows, toActText } from './audit-rows.tsx';
import { organizationAddress } from './organization.tsx';

const path = '/console/organizations/:slug/audit';
const pageSize = 50;

/** The audit log of an organization, for its admins. */
export function organizationAuditRoutes({ unitOfWork }: PageParts): ConsoleRoute[] {
  return [
    page(path, async ({ params, query, person }) => {
      const slug = params['slug'] ?? '';
      const filter = readFilter(query);
      const cursor = query.get('before') ?? '';
      const before = isId('audit', cursor) ? cursor : undefined;
      const found = await unitOfWork.read(system, (work) =>
        readOrganizationAudit(work, person, slug, { ...filter, before, limit: pageSize + 1 }),
      );
      return auditPage(slug, filter, found);
    }),
  ];
}

/** The path of an organization's audit log. */
export function auditAddress(slug: string): string {
  return `${organizationAddress(slug)}/audit`;
}

interface Filter {
  act?: AuditAction | undefined;
  handle?: string | undefined;
}

/** Reads the filter of a query. Invalid values are ignored. */
function readFilter(query: URLSearchParams): Filter {
  const handle = (query.get('agent') ?? '').trim().replace(/^@/, '').toLowerCase();
  const act = auditActions.find((action) => action === query.get('act'));
  return { act, handle: isHandle(handle) ? handle : undefined };
}

function auditPage(
  slug: string,
  filter: Filter,
  found: readonly Awaited<ReturnType<typeof readOrganizationAudit>>[number][],
): ShownPage {
  const entries = found.slice(0, pageSize);
  const last = found.length > pageSize ? entries.at(-1) : undefined;
  const { act, handle } = filter;
  const query = { ...(act !== undefined && { act }), ...(handle !== undefined && { agent: handle }) };
  const body = (
    <>
      <Heading
        title={`Audit log of ${slug}`}
        back={{ href: organizationAddress(slug), text: slug }}
        lead="All changes to its members and agents, newest first. Entries cannot be changed and are deleted after the retention time."
      />
      <Card title="Filter">
        <Filters slug={slug} {...filter} />
      </Card>
      <Card title="Entries">
        {entries.length === 0 ? <p>No entries.</p> : <AuditRows entries={entries} />}
        <NextPage path={auditAddress(slug)} noun="entries" next={last && { ...query, before: last.id }} />
      </Card>
    </>
  );
  return { title: `Audit log of ${slug}`, body };
}

function Filters({ slug, act, handle }: Filter & { slug: string }) {
  const acts = auditActions.map((value) => ({ value, text: toActText(value) }));
  return (
    <form class="stack" method="get" action={auditAddress(slug)} role="search">
      <Select
        name="act"
        label="Action"
        value={act ?? ''}
        options={[{ value: '', text: 'All actions' }, ...acts]}
      />
      <Field
        name="agent"
        label="Agent"
        hint={`Handle of an agent, such as ${slug}.agent. Empty for all.`}
        value={handle}
        maxlength={80}
        plain
      />
      <div>
        <Button kind="quiet">Filter</Button>
      </div>
    </form>
  );
}
