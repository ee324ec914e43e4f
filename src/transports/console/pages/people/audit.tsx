import {
  auditActions,
  type AuditKind,
  auditKinds,
  type AuditAction,
} from '../../../../../packages/core/src/domain/auth/audit.ts';
import { isId } from '../../../../../packages/core/src/domain/ids.ts';
import { readAgentAudit, type AuditLogEntry } from '../../../../services/agents/audit.ts';
import { listAgentsOfPerson } from '../../../../services/people/agents.ts';
import { readOrganizationAudit } from '../../../../services/people/organization-audit.ts';
import { toAgentOptions, Handle, lengthText, type Row, Time } from '../../components/rows.tsx';
import { Empty } from '../../components/content.tsx';
import { selectField, textField } from '../../define/fields.tsx';
import { readHandle } from '../../define/filter.tsx';
import { toPage } from '../../define/list.tsx';
import { definePage } from '../../define/page.tsx';
import type { PageVisit } from '../../define/section.ts';

/** An entry of the audit log. @param linked the ids of agents that are links to their pages */
function auditRow(entry: AuditLogEntry, linked: ReadonlySet<string> = new Set()): Row {
  const { id, act, at, agent_id, handle, username, about, by_kind, by_name, transport, detail } = entry;
  const name = handle === null ? username : <Handle of={handle} />;
  const isLink = agent_id !== null && linked.has(agent_id);
  const subject = isLink ? <a href={`/console/agents/${agent_id}`}>{name}</a> : name;
  return {
    key: id,
    title: [toActText(act), ' ', subject],
    lines: [
      [about !== null && <span class="code">{about}</span>, detailContent(detail)],
      [<Time at={at} />, [by_kind, by_name !== null && ` ${by_name}`], transport !== by_kind && transport],
    ],
  };
}

/** Returns an action in words: `contact_request.approved` becomes "Contact request approved". */
function toActText(act: AuditAction): string {
  const text = act.replaceAll(/[._]/g, ' ');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** Names and values; a count of 0 is left out. */
function detailContent(detail: object | null) {
  const shown = Object.entries(detail ?? {}).filter(([, value]) => value !== 0);
  return (
    shown.length > 0 && [
      ' ',
      shown.map(([name, value], index) => [
        index > 0 && ', ',
        `${name.replaceAll('_', ' ')}: `,
        valueContent(name, value),
      ]),
    ]
  );
}

function valueContent(name: string, value: unknown) {
  if (typeof value === 'number' && name.endsWith('_at')) return <Time at={value} />;
  if (typeof value === 'number' && name === 'expires_in') return lengthText(value * 1000);
  return Array.isArray(value) ? value.join(' ') : String(value);
}

const pageSize = 50;

const kindTexts: Record<AuditKind, string> = {
  agents: 'Agents: created, changed, exported, deleted',
  access: 'Access: credentials, connections, tokens',
  contacts: 'Contacts: requests, blocks, allowlist',
  approvals: 'Approvals',
  webhooks: 'Webhooks and subscriptions',
  organizations: 'Organizations: members, invitations',
};

/** The filter of a query. Invalid values are ignored. */
function readFilter({ query }: PageVisit) {
  const agent = query.get('agent') ?? '';
  const kind = auditKinds.find((each) => each === query.get('kind'));
  return { ...(kind && { kind }), ...(isId('agent', agent) && { agent }) };
}

/** The entry after which the page begins. */
function readPosition({ query }: PageVisit): string | undefined {
  const before = query.get('before') ?? '';
  return isId('audit', before) ? before : undefined;
}

/** The audit log of all agents and organizations that a person administers. */
export const auditPage = definePage({
  path: '/console/audit',
  load: async ({ read, person }) => ({
    agents: await read(listAgentsOfPerson, person.account_id, { right: 'manages' }),
  }),
  title: 'Audit log',
  lead: 'Changes of your agents and by them, and of the members of organizations of which you are an admin, newest first. Entries cannot be changed and are deleted after the retention time.',
  sections: ({ filter, list }) => [
    filter({
      fields: ({ agents }) => ({
        kind: selectField('Kind', [
          { value: '', text: 'All kinds' },
          ...auditKinds.map((value) => ({ value, text: kindTexts[value] })),
        ]),
        agent: selectField('Agent', toAgentOptions(agents, 'All my agents')),
      }),
      values: readFilter,
    }),
    list({
      title: 'Entries',
      label: 'Audit log',
      async read(visit) {
        const { kind, agent: agent_id } = readFilter(visit);
        const wanted = { kind, agent_id, before: readPosition(visit), limit: pageSize };
        const { entries, next } = await visit.read(readAgentAudit, visit.person.account_id, wanted);
        return {
          items: entries,
          next: next === undefined ? undefined : { ...readFilter(visit), before: next },
        };
      },
      row: (entry, { agents }) => auditRow(entry, new Set(agents.map(({ id }) => id))),
      empty: (_, next) =>
        next === undefined ? (
          <Empty title="No entries">Create an agent or change one: each change has an entry here.</Empty>
        ) : (
          'None of the latest entries is of this kind.'
        ),
    }),
  ],
});

/** The filter of the log of an organization. Invalid values are ignored. */
function readOrganizationFilter({ query }: PageVisit) {
  const { handle } = readHandle(query, 'agent');
  const act = auditActions.find((each) => each === query.get('act'));
  return { ...(act && { act }), ...(handle !== undefined && { agent: handle }) };
}

/** The audit log of an organization, for its admins. */
export const organizationAuditPage = definePage({
  path: '/console/organizations/:slug/audit',
  title: ({ params }) => `Audit log of ${params['slug']}`,
  back: ({ params: { slug = '' } }) => ({ href: `/console/organizations/${slug}`, text: slug }),
  lead: 'All changes to its members and agents, newest first. Entries cannot be changed and are deleted after the retention time.',
  sections: ({ filter, list }) => [
    filter({
      fields: {
        act: selectField('Action', [
          { value: '', text: 'All actions' },
          ...auditActions.map((value) => ({ value, text: toActText(value) })),
        ]),
        agent: textField('Handle of an agent', undefined, { maxlength: 80, plain: true }),
      },
      values: readOrganizationFilter,
    }),
    list({
      title: 'Entries',
      label: 'Audit log',
      empty: 'No entries.',
      async read(visit) {
        const { act, agent: handle } = readOrganizationFilter(visit);
        const wanted = { act, handle, before: readPosition(visit), limit: pageSize + 1 };
        const { read, person, params } = visit;
        const found = await read(readOrganizationAudit, person, params['slug'] ?? '', wanted);
        return toPage(found, pageSize, ({ id }) => ({ ...readOrganizationFilter(visit), before: id }));
      },
      row: (entry) => auditRow(entry),
    }),
  ],
});
