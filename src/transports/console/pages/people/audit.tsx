import { system } from '../../../../../packages/core/src/domain/auth/audit.ts';
import { type AuditKind, auditKinds } from '../../../../../packages/core/src/domain/auth/audit.ts';
import { isId } from '../../../../../packages/core/src/domain/ids.ts';
import { type AuditPage, readAgentAudit } from '../../../../services/agents/audit.ts';
import { type AgentOfPerson, listAgentsOfPerson } from '../../../../services/people/agents.ts';
import { Card, Empty, Heading } from '../../components/content.tsx';
import { Select } from '../../components/field.tsx';
import { Button, ButtonLink } from '../../components/form.tsx';
import { NextPage } from '../../components/rows.tsx';
import type { PageParts } from '../../parts.ts';
import { type ConsoleRoute, page, type ShownPage } from '../../route.ts';
import { AuditRows } from './audit-rows.tsx';

const path = '/console/audit';
const pageSize = 50;

const kindTexts: Record<AuditKind, string> = {
  agents: 'Agents: created, changed, exported, deleted',
  access: 'Access: credentials, connections, tokens',
  contacts: 'Contacts: requests, blocks, allowlist',
  approvals: 'Approvals',
  webhooks: 'Webhooks and subscriptions',
  organizations: 'Organizations: members, invitations',
};

/** The audit log of all agents and organizations that a person administers. */
export function auditRoutes({ unitOfWork }: PageParts): ConsoleRoute[] {
  return [
    page(path, async ({ query, person: { account_id } }) => {
      const filter = readFilter(query);
      const before = query.get('before') ?? '';
      const position = isId('audit', before) ? { before } : {};
      return unitOfWork.read(system, async (work) => {
        const [agents, found] = await Promise.all([
          listAgentsOfPerson(work, account_id, { right: 'manages' }),
          readAgentAudit(work, account_id, { ...filter, ...position, limit: pageSize }),
        ]);
        return auditPage(filter, agents, found);
      });
    }),
  ];
}

interface Filter {
  agent_id?: string | undefined;
  kind?: AuditKind | undefined;
}

/** Reads the filter of a query. Invalid values are ignored. */
function readFilter(query: URLSearchParams): Filter {
  const agent = query.get('agent') ?? '';
  const kind = auditKinds.find((each) => each === query.get('kind'));
  return { kind, agent_id: isId('agent', agent) ? agent : undefined };
}

function auditPage(
  filter: Filter,
  agents: readonly AgentOfPerson[],
  { entries, next }: AuditPage,
): ShownPage {
  const { agent_id, kind } = filter;
  const query = { ...(kind !== undefined && { kind }), ...(agent_id !== undefined && { agent: agent_id }) };
  const body = (
    <>
      <Heading
        title="Audit log"
        lead="Changes of your agents and by them, and of the members of organizations of which you are an admin, newest first. Entries cannot be changed and are deleted after the retention time."
      />
      <Filters filter={filter} agents={agents} />
      <Card title="Entries">
        {entries.length > 0 && <AuditRows entries={entries} linked={new Set(agents.map(({ id }) => id))} />}
        {entries.length === 0 && next === undefined && (
          <Empty title="No entries">Create an agent or change one: each change has an entry here.</Empty>
        )}
        {entries.length === 0 && next !== undefined && <p>None of the latest entries is of this kind.</p>}
        <NextPage
          path={path}
          noun="entries"
          next={next === undefined ? undefined : { ...query, before: next }}
        />
      </Card>
    </>
  );
  return { title: 'Audit log', body };
}

function Filters({ filter, agents }: { filter: Filter; agents: readonly AgentOfPerson[] }) {
  const { agent_id, kind } = filter;
  return (
    <form method="get" action={path} class="stack" role="search" aria-label="Filter">
      <div class="filter-fields">
        <Select
          name="kind"
          label="Kind"
          value={kind ?? ''}
          options={[
            { value: '', text: 'All kinds' },
            ...auditKinds.map((value) => ({ value, text: kindTexts[value] })),
          ]}
        />
        <Select
          name="agent"
          label="Agent"
          value={agent_id ?? ''}
          options={[
            { value: '', text: 'All my agents' },
            ...agents.map(({ id, canonical_handle }) => ({ value: id, text: `@${canonical_handle}` })),
          ]}
        />
      </div>
      <div class="actions">
        <Button kind="quiet">Show</Button>
        {(agent_id !== undefined || kind !== undefined) && <ButtonLink href={path}>Show all</ButtonLink>}
      </div>
    </form>
  );
}
