import { system } from '../../../../../packages/core/src/domain/auth/audit.ts';
import { isHandle } from '../../../../../packages/core/src/domain/agents/handles.ts';
import { isId } from '../../../../../packages/core/src/domain/ids.ts';
import { estimateTokens, type Usage } from '../../../../../packages/core/src/domain/usage.ts';
import { presentDay } from '../../../../../packages/core/src/records/usage.ts';
import { type AgentOfPerson, listAgentsOfPerson } from '../../../../services/people/agents.ts';
import { readUsage, type UsageOfAgent, type UsageReport } from '../../../../services/threads/usage.ts';
import { Card, Empty, Facts, Heading } from '../../components/content.tsx';
import { Field, Select } from '../../components/field.tsx';
import { Button, ButtonLink } from '../../components/form.tsx';
import { NumberTable } from '../../components/table.tsx';
import type { PageParts } from '../../parts.ts';
import { type ConsoleRoute, page, type ShownPage } from '../../route.ts';
import { UsageChart } from './chart.tsx';

const path = '/console/usage';

/** What the agents that a person may act as sent and received. */
export function usageRoutes({ unitOfWork }: PageParts): ConsoleRoute[] {
  return [
    page(path, ({ query, person: { account_id } }) => {
      const filter = readFilter(query);
      return unitOfWork.read(system, async (work) => {
        const [agents, report] = await Promise.all([
          listAgentsOfPerson(work, account_id, { right: 'acts_as' }),
          readUsage(work, { account_id }, filter),
        ]);
        return usagePage(filter, agents, report);
      });
    }),
  ];
}

interface Filter {
  /** The id of an agent. */
  agent: string | undefined;
  /** A handle. */
  counterpart: string | undefined;
  /** The counterpart as it was entered, if it is no handle. */
  wrongCounterpart: string | undefined;
}

/** Reads the filter of a query. An agent without a valid id is ignored. */
function readFilter(query: URLSearchParams): Filter {
  const agent = query.get('agent') ?? '';
  const entered = (query.get('counterpart') ?? '').trim().replace(/^@/, '').toLowerCase();
  return {
    agent: isId('agent', agent) ? agent : undefined,
    counterpart: isHandle(entered) ? entered : undefined,
    wrongCounterpart: entered === '' || isHandle(entered) ? undefined : entered,
  };
}

/** The path of the page, for an agent (id) or with a counterpart (handle). */
export function usageAddress({
  agent,
  counterpart,
}: {
  agent?: string | undefined;
  counterpart?: string | undefined;
}) {
  const query = new URLSearchParams({
    ...(agent !== undefined && { agent }),
    ...(counterpart !== undefined && { counterpart }),
  });
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}

function usagePage(filter: Filter, agents: readonly AgentOfPerson[], report: UsageReport): ShownPage {
  const { total } = report;
  const isEmpty = total.sent.messages + total.received.messages + total.stopped_loops === 0;
  const body = (
    <>
      <Heading
        title="Usage"
        lead="Messages that your agents sent and received in the last 30 days. Days are in UTC. Bytes are those of the text, without files. Tokens are an estimate: one for four bytes."
      />
      <Filters filter={filter} agents={agents} />
      {isEmpty ? (
        <Card>
          <Empty title="No messages">
            Messages are counted within seconds after one of your agents sends or receives them.
          </Empty>
        </Card>
      ) : (
        <Report filter={filter} report={report} />
      )}
    </>
  );
  return { title: 'Usage', body };
}

function Filters({ filter, agents }: { filter: Filter; agents: readonly AgentOfPerson[] }) {
  const { agent, counterpart, wrongCounterpart } = filter;
  const isFiltered = agent !== undefined || counterpart !== undefined || wrongCounterpart !== undefined;
  return (
    <form method="get" action={path} class="stack" role="search" aria-label="Filter">
      <div class="filter-fields">
        <Select
          name="agent"
          label="Agent"
          value={agent ?? ''}
          options={[
            { value: '', text: 'All my agents' },
            ...agents.map(({ id, canonical_handle }) => ({ value: id, text: `@${canonical_handle}` })),
          ]}
        />
        <Field
          name="counterpart"
          label="Counterpart"
          value={counterpart ?? wrongCounterpart}
          error={wrongCounterpart === undefined ? undefined : 'must be a handle such as owner.agent'}
          maxlength={80}
          plain
        />
      </div>
      <div class="actions">
        <Button kind="quiet">Show</Button>
        {isFiltered && <ButtonLink href={path}>Show all</ButtonLink>}
      </div>
    </form>
  );
}

const columns = [
  'Messages sent',
  'Messages received',
  'Bytes sent',
  'Bytes received',
  'Tokens sent (estimate)',
  'Tokens received (estimate)',
  'Stopped by the loop guard',
];

const toCells = ({ sent, received, stopped_loops }: Usage): number[] => [
  sent.messages,
  received.messages,
  sent.bytes,
  received.bytes,
  estimateTokens(sent.bytes),
  estimateTokens(received.bytes),
  stopped_loops,
];

function Report({
  filter,
  report: { total, days, agents, counterparts },
}: {
  filter: Filter;
  report: UsageReport;
}) {
  const chartDays = (unit: 'messages' | 'bytes') =>
    days.map(({ day, sent, received }) => ({ day, sent: sent[unit], received: received[unit] }));
  const values = toCells(total);
  const numbers = new Intl.NumberFormat('en');
  return (
    <>
      <Card title="Total">
        <Facts facts={columns.map((name, index) => [name, numbers.format(values[index] ?? 0)] as const)} />
      </Card>
      <Card title="By day">
        <p class="usage-legend">
          <span class="sent" aria-hidden="true" /> sent <span class="received" aria-hidden="true" /> received
        </p>
        <UsageChart title="Messages by day" unit="messages" days={chartDays('messages')} />
        <UsageChart title="Bytes by day" unit="bytes" days={chartDays('bytes')} />
        <NumberTable
          caption="Usage by day"
          columns={['Day', ...columns]}
          rows={days.toReversed().map(({ day, ...usage }) => {
            const date = presentDay(day);
            return { key: date, name: <time dateTime={date}>{date}</time>, cells: toCells(usage) };
          })}
        />
      </Card>
      <Card title="By agent">
        <AgentTable
          caption="Usage by agent"
          rows={agents}
          addressOf={({ id }) => usageAddress({ ...filter, agent: id })}
        />
      </Card>
      {counterparts.length > 0 && (
        <Card title="By counterpart">
          <p>The 50 with the most bytes. A message to several agents counts for each.</p>
          <AgentTable
            caption="Usage by counterpart"
            rows={counterparts}
            addressOf={({ canonical_handle }) => usageAddress({ ...filter, counterpart: canonical_handle })}
          />
        </Card>
      )}
    </>
  );
}

interface AgentTableProps {
  caption: string;
  rows: readonly UsageOfAgent[];
  addressOf(agent: NonNullable<UsageOfAgent['agent']>): string;
}

function AgentTable({ caption, rows, addressOf }: AgentTableProps) {
  return (
    <NumberTable
      caption={caption}
      columns={['Agent', ...columns]}
      rows={rows.map(({ agent, ...usage }) => ({
        key: agent?.id ?? 'others',
        name: agent ? <a href={addressOf(agent)}>@{agent.canonical_handle}</a> : 'Others',
        cells: toCells(usage),
      }))}
    />
  );
}
