import { type AuditAct, auditActs } from '../../domain/audit.ts';
import { isHandle } from '../../domain/handles.ts';
import { isId } from '../../domain/ids.ts';
import { readOrganizationAudit } from '../../services/organization-audit.ts';
import { Handle } from '../kit/agents.tsx';
import { Card, Heading } from '../kit/content.tsx';
import { Field, Select } from '../kit/field.tsx';
import { Button } from '../kit/form.tsx';
import { Rows } from '../kit/list.tsx';
import { NextPage } from '../kit/next-page.tsx';
import { Time } from '../kit/time.tsx';
import type { PageParts } from '../parts.ts';
import { type ConsoleRoute, page, type ShownPage } from '../route.ts';
import { addressOf } from './organization.tsx';

const path = '/console/organizations/:slug/audit';
const pageSize = 50;

/** Who did what in an organization, for its admins. */
export function organizationAuditRoutes({ unitOfWork }: PageParts): ConsoleRoute[] {
  return [
    page(path, async ({ params, query, person }) => {
      const slug = params['slug'] ?? '';
      const only = filterIn(query);
      const given = query.get('before') ?? '';
      const before = isId('audit', given) ? given : undefined;
      const found = await unitOfWork.consult((all) =>
        readOrganizationAudit(all, person, slug, { ...only, before, limit: pageSize + 1 }),
      );
      return auditPage(slug, only, found);
    }),
  ];
}

/** The address of an organization's audit log. */
export function auditAddress(slug: string): string {
  return `${addressOf(slug)}/audit`;
}

interface Filter {
  act?: AuditAct | undefined;
  handle?: string | undefined;
}

/** What a query asks for; what is none is no filter. */
function filterIn(query: URLSearchParams): Filter {
  const handle = (query.get('agent') ?? '').trim().replace(/^@/, '').toLowerCase();
  const act = auditActs.find((one) => one === query.get('act'));
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
        back={{ href: addressOf(slug), text: slug }}
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
  const acts = auditActs.map((value) => ({ value, text: actWords(value) }));
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
        {actWords(act)} {whom}
      </>
    ),
    text: (
      <>
        {about !== null && <span class="code">{about}</span>} {detail !== null && words(detail)}
        <br />
        <Time at={at} /> · {by_kind}
        {by_name !== null && ` ${by_name}`} · {door}
      </>
    ),
  };
}

/** "contact_request.approved" as people say it: "Contact request approved". */
function actWords(act: AuditAct): string {
  const text = act.replaceAll(/[._]/g, ' ');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

function words(detail: object): string {
  return Object.entries(detail)
    .map(
      ([name, value]) =>
        `${name.replaceAll('_', ' ')}: ${Array.isArray(value) ? value.join(' ') : String(value)}`,
    )
    .join(', ');
}
