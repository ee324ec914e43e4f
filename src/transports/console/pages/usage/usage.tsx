import { isHandle } from '../../../../../packages/core/src/domain/agents/handles.ts';
import { isId } from '../../../../../packages/core/src/domain/ids.ts';
import { estimateTokens, type Usage } from '../../../../../packages/core/src/domain/usage.ts';
import { presentDay } from '../../../../../packages/core/src/records/usage.ts';
import { type AgentOfPerson, listAgentsOfPerson } from '../../../../services/people/agents.ts';
import { readUsage, type UsageOfAgent, type UsageReport } from '../../../../services/threads/usage.ts';
import { toAgentOptions } from '../../components/rows.tsx';
import { Card, Empty, Facts } from '../../components/content.tsx';
import { NumberTable } from '../../components/table.tsx';
import { selectField, textField } from '../../define/fields.tsx';
import { filterSection } from '../../define/filter.tsx';
import { definePage, type PageVisit } from '../../define/page.tsx';
import { useId } from 'preact/hooks';

const width = 720;
const height = 180;
const left = 64;
/** Room for half of the last date. */
const right = 16;
const bottom = 24;
const top = 12;

interface ChartDay {
  /** In milliseconds. */
  day: number;
  sent: number;
  received: number;
}

const numbers = new Intl.NumberFormat('en');

/** One bar for each day, with the messages that were received on top of those that were sent. The table beneath has the same numbers. */
function UsageChart({ days }: { days: readonly ChartDay[] }) {
  const id = useId();
  const max = Math.max(1, ...days.map(({ sent, received }) => sent + received));
  const step = (width - left - right) / days.length;
  const toHeight = (value: number) => (value / max) * (height - top - bottom);
  const sum = (key: 'sent' | 'received') => numbers.format(days.reduce((total, day) => total + day[key], 0));
  return (
    <svg
      class="usage-chart"
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-labelledby={`${id}-title ${id}-desc`}
    >
      <title id={`${id}-title`}>Messages by day</title>
      <desc id={`${id}-desc`}>
        {`${sum('sent')} messages sent and ${sum('received')} received in ${days.length} days; at most ${numbers.format(max)} a day. The table below has the numbers of each day.`}
      </desc>
      <line x1={left} y1={height - bottom} x2={width - right} y2={height - bottom} />
      <text x={left - 8} y={top + 4} text-anchor="end">
        {numbers.format(max)}
      </text>
      <text x={left - 8} y={height - bottom} text-anchor="end">
        0
      </text>
      {days.map(({ day, sent, received }, index) => {
        const x = left + index * step + step * 0.15;
        const [low, high] = [toHeight(sent), toHeight(received)];
        return (
          <g key={day}>
            <rect class="sent" x={x} y={height - bottom - low} width={step * 0.7} height={low} />
            <rect class="received" x={x} y={height - bottom - low - high} width={step * 0.7} height={high} />
            {index % 7 === 1 && (
              <text x={x + step * 0.35} y={height - 6} text-anchor="middle">
                {presentDay(day).slice(5)}
              </text>
            )}
          </g>
        );
      })}
    </svg>
  );
}

const path = '/console/usage';

interface UsageVisit extends PageVisit {
  agents: readonly AgentOfPerson[];
  /** What the address asks for. An agent without a valid id is ignored. */
  wanted: { agent: string | undefined; counterpart: string | undefined };
  /** The counterpart as it was entered, if it is no handle. */
  wrong: string | undefined;
}

/** What the agents that a person may act as sent and received. */
export const usagePage = definePage<UsageVisit>({
  path,
  async load(visit) {
    const { query, person, read } = visit;
    const agent = query.get('agent') ?? '';
    const entered = (query.get('counterpart') ?? '').trim().replace(/^@/, '').toLowerCase();
    const wanted = {
      agent: isId('agent', agent) ? agent : undefined,
      counterpart: isHandle(entered) ? entered : undefined,
    };
    const agents = await read(listAgentsOfPerson, person.account_id, { right: 'acts_as' });
    return { ...visit, agents, wanted, wrong: isHandle(entered) ? undefined : entered };
  },
  title: 'Usage',
  lead: 'Messages that your agents sent and received in the last 30 days. Days are in UTC. Bytes are those of the text, without files. Tokens are an estimate: one for four bytes.',
  sections: [
    filterSection({
      fields: ({ agents }) => ({
        agent: selectField('Agent', toAgentOptions(agents, 'All my agents')),
        counterpart: textField('Counterpart', undefined, { maxlength: 80, plain: true }),
      }),
      values: ({ wanted, wrong }) => ({ ...wanted, counterpart: wanted.counterpart ?? (wrong || undefined) }),
      errors: ({ wrong }) => (wrong ? { counterpart: 'must be a handle such as owner.agent' } : {}),
    }),
    async ({ read, person: { account_id }, wanted }) => (
      <Report wanted={wanted} report={await read(readUsage, { account_id }, wanted)} />
    ),
  ],
});

/** The path of the page, for an agent (id) or with a counterpart (handle). */
export function usageAddress(wanted: Partial<UsageVisit['wanted']>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(wanted)) if (value !== undefined) query.set(name, value);
  return query.size === 0 ? path : `${path}?${query.toString()}`;
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

interface ReportProps {
  wanted: UsageVisit['wanted'];
  report: UsageReport;
}

function Report({ wanted, report: { total, days, agents, counterparts } }: ReportProps) {
  if (total.sent.messages + total.received.messages + total.stopped_loops === 0)
    return (
      <Card>
        <Empty title="No messages">
          Messages are counted within seconds after one of your agents sends or receives them.
        </Empty>
      </Card>
    );
  const values = toCells(total);
  const dayRows = days.toReversed().map(({ day, ...usage }) => {
    const date = presentDay(day);
    return { key: date, name: <time dateTime={date}>{date}</time>, cells: toCells(usage) };
  });
  return (
    <>
      <Card title="Total">
        <Facts facts={columns.map((name, index) => [name, numbers.format(values[index] ?? 0)] as const)} />
      </Card>
      <Card title="By day">
        <p class="usage-legend">
          <span class="sent" aria-hidden="true" /> sent <span class="received" aria-hidden="true" /> received
        </p>
        <UsageChart
          days={days.map(({ day, sent, received }) => ({
            day,
            sent: sent.messages,
            received: received.messages,
          }))}
        />
        <NumberTable caption="Usage by day" columns={['Day', ...columns]} rows={dayRows} />
      </Card>
      <Card title="By agent">
        <AgentTable
          caption="Usage by agent"
          rows={agents}
          addressOf={({ id }) => usageAddress({ ...wanted, agent: id })}
        />
      </Card>
      {counterparts.length > 0 && (
        <Card title="By counterpart">
          <p>The 50 with the most bytes. A message to several agents counts for each.</p>
          <AgentTable
            caption="Usage by counterpart"
            rows={counterparts}
            addressOf={({ canonical_handle }) => usageAddress({ ...wanted, counterpart: canonical_handle })}
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
