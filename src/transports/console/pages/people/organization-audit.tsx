import { type AuditAction, auditActions } from '../../../../domain/auth/audit.ts';
import { isHandle } from '../../../../domain/agents/handles.ts';
import { isId } from '../../../../domain/ids.ts';
import { readOrganizationAudit } from '../../../../services/people/organization-audit.ts';
import { Handle } from '../../components/agent-rows.tsx';
import { Card, Heading } from '../../components/content.tsx';
import { Field, Select } from '../../components/field.tsx';
import { Button } from '../../components/form.tsx';
import { Rows } from '../../components/rows.tsx';
import { NextPage } from '../../components/next-page.tsx';
import { Time } from '../../components/time.tsx';
import type { PageParts } from '../../parts.ts';
import { type ConsoleRoute, page, type ShownPage } from '../../route.ts';
import { organizationAddress } from './organization.tsx';

const path = '/console/organizations/:slug/audit';
const pageSize = 50;

/** Who did what in an organization, for its admins. */
export function organizationAuditRoutes({ unitOfWork }: PageParts): ConsoleRoute[] {
  return [
    page(path, async ({ params, query, person }) => {
      const slug = params['slug'] ?? '';
      const only = readFilter(query);
      const given = query.get('before') ?? '';
      const before = isId('audit', given) ? given : undefined;
      const found = await unitOfWork.readAsSystem((all) =>
        readOrganizationAudit(all, person, slug, { ...only, before, limit: pageSize + 1 }),
      );
      return auditPage(slug, only, found);
    }),
  ];
}

/** The address of an organization's audit log. */
export function auditAddress(slug: string): string {
  return `${organizationAddress(slug)}/audit`;
}

interface Filter {
  act?: AuditAction | undefined;
  handle?: string | undefined;
}

/** What a query asks for; what is none is no filter. */
function readFilter(query: URLSearchParams): Filter {
  const handle = (query.get('agent') ?? '').trim().replace(/^@/, '').toLowerCase();
  const act = auditActions.find((one) => one === query.get('act'));
  return { act, handle: isHandle(handle) ? handle : undefined };
}

type Entry = Awaited<ReturnType<typeof readOrganizationAudit>>[number];

function auditPage(slug: string, only: Filter, found: readonly Entry[]): ShownPage {
  const entries = found.slice(0, pageSize);
  const last = found.length > pageSize ? entries.at(-1) : undefined;
  const { act, handle } = only;
  const asked = { ...(act !== undefined && { act }), ...(handle !== undefined && { agent: handle }) };
  const body = (
    <>
      <Heading
        title={`Audit log of ${slug}`}
        back={{ href: organizationAddress(slug), text: slug }}
        lead="Who did what to its people and agents, newest first. Nobody can change it; it leaves by age."
      />
      <Card title="Show">
        <Filters slug={slug} {...only} />
      </Card>
      <Card title="What was done">
        {entries.length === 0 ? (
          <p>Nothing.</p>
        ) : (
          <Rows label="Audit log" rows={entries.map((entry) => entryRow(entry))} />
        )}
        <NextPage path={auditAddress(slug)} what="records" next={last && { ...asked, before: last.id }} />
      </Card>
    </>
  );
  return { title: `Audit log of ${slug}`, body };
}

function Filters({ slug, act, handle }: Filter & { slug: string }) {
  const acts = auditActions.map((value) => ({ value, text: actText(value) }));
  return (
    <form class="stack" method="get" action={auditAddress(slug)} role="search">
      <Select
        name="act"
        label="What"
        value={act ?? ''}
        options={[{ value: '', text: 'Everything' }, ...acts]}
      />
      <Field
        name="agent"
        label="Agent"
        hint={`Its handle, such as ${slug}.agent; all when empty.`}
        value={handle}
        maxlength={80}
        plain
      />
      <div>
        <Button kind="quiet">Show</Button>
      </div>
    </form>
  );
}

function entryRow({ id, act, at, handle, username, about, by_kind, by_name, door, detail }: Entry) {
  const whom = handle === null ? username : <Handle of={handle} />;
  return {
    key: id,
    title: (
      <>
        {actText(act)} {whom}
      </>
    ),
    text: (
      <>
        {about !== null && <span class="code">{about}</span>} {detail !== null && detailText(detail)}
        <br />
        <Time at={at} /> · {by_kind}
        {by_name !== null && ` ${by_name}`} · {door}
      </>
    ),
  };
}

/** "contact_request.approved" as people say it: "Contact request approved". */
function actText(act: AuditAction): string {
  const text = act.replaceAll(/[._]/g, ' ');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

function detailText(detail: object): string {
  return Object.entries(detail)
    .map(
      ([name, value]) =>
        `${name.replaceAll('_', ' ')}: ${Array.isArray(value) ? value.join(' ') : String(value)}`,
    )
    .join(', ');
}
