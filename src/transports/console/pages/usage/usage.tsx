import { isId } from '../../../../../packages/core/src/domain/ids.ts';
import { estimateTokens, type Usage } from '../../../../../packages/core/src/domain/usage.ts';
import { presentDay } from '../../../../../packages/core/src/records/usage.ts';
import { listAgentsOfPerson } from '../../../../services/people/agents.ts';
import {
  readAnswerTimes,
  readUsage,
  type UsageOfAgent,
  type UsageReport,
} from '../../../../services/threads/usage.ts';
import { Handle, lengthText, toAgentOptions } from '../../components/rows.tsx';
import { Card, Empty } from '../../components/content.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { selectField, textField } from '../../define/fields.tsx';
import { readHandle, wrongHandleText } from '../../define/filter.tsx';
import { definePage } from '../../define/page.tsx';
import { page, type PersonVisit } from '../../route.ts';

const numbers = new Intl.NumberFormat('en');

const path = '/console/usage';

/** Usage is counted by day (UTC). */
const periods = [
  { value: '1', text: 'Today' },
  { value: '7', text: '7 days' },
  { value: '30', text: '30 days' },
];

interface Wanted {
  /** The id of an agent. Undefined without a valid one. */
  agent?: string | undefined;
  /** A handle. */
  counterpart?: string | undefined;
  days?: string | undefined;
}

/** What the address asks for. `wrong` is the counterpart as it was entered, if it is no handle. */
function readWanted(query: URLSearchParams) {
  const agent = query.get('agent') ?? '';
  const { handle: counterpart, wrong } = readHandle(query, 'counterpart');
  const days = periods.find(({ value }) => value === query.get('days'))?.value;
  const wanted: Wanted = { agent: isId('agent', agent) ? agent : undefined, counterpart, days };
  return { wanted, wrong, period: Number(days ?? 30) };
}

interface Report extends UsageReport {
  /** The median time (ms) to complete a task, by agent id. */
  answerTimes: ReadonlyMap<string, number>;
}

async function readReport({
  read,
  person,
  query,
}: Pick<PersonVisit, 'read' | 'person' | 'query'>): Promise<Report> {
  const { wanted, period } = readWanted(query);
  const reader = { account_id: person.account_id };
  const [usage, answerTimes] = await Promise.all([
    read(readUsage, reader, { ...wanted, days: period }),
    read(readAnswerTimes, reader, period),
  ]);
  return { ...usage, answerTimes };
}

/** What the agents that a person may act as sent and received. */
const usageReport = definePage({
  path,
  async load({ query, person, read }) {
    const agents = await read(listAgentsOfPerson, person.account_id, { right: 'acts_as' });
    return { agents, ...readWanted(query) };
  },
  title: 'Usage',
  lead: 'Messages that your agents sent and received. Days are in UTC. Tokens are an estimate: one for four bytes of text.',
  sections: ({ filter }) => [
    filter({
      fields: ({ agents }) => ({
        days: selectField('Period', periods.toReversed()),
        agent: selectField('Agent', toAgentOptions(agents, 'All my agents')),
        counterpart: textField('Counterpart', undefined, { maxlength: 80, plain: true }),
      }),
      values: ({ wanted, wrong }) => ({ ...wanted, counterpart: wanted.counterpart ?? wrong }),
      errors: ({ wrong }) => (wrong ? { counterpart: wrongHandleText } : {}),
    }),
    async (visit) => <Report wanted={visit.wanted} report={await readReport(visit)} />,
  ],
});

const csvPath = `${path}.csv`;

/** The same as a file, with bytes. */
const usageFile = page(csvPath, async (visit) => {
  const { days, agents, counterparts, answerTimes } = await readReport(visit);
  const toLine = (kind: string, name: string, { sent, received, stopped_loops }: Usage, median?: number) => [
    kind,
    name,
    sent.messages,
    received.messages,
    sent.bytes,
    received.bytes,
    stopped_loops,
    median === undefined ? '' : Math.round(median),
  ];
  const nameOf = ({ agent }: UsageOfAgent) => agent?.canonical_handle ?? '';
  const lines = [
    ['kind,name,messages_sent,messages_received,bytes_sent,bytes_received,stopped_loops,median_answer_ms'],
    ...agents.map((row) => toLine('agent', nameOf(row), row, answerTimes.get(row.agent?.id ?? ''))),
    ...counterparts.map((row) => toLine('counterpart', nameOf(row), row)),
    ...days.filter(hasUsage).map((row) => toLine('day', presentDay(row.day), row)),
  ];
  visit.ctx.attachment('usage.csv');
  visit.ctx.type = 'text/csv';
  // Handles and days have no characters that a spreadsheet or CSV would read.
  visit.ctx.body = lines.map((line) => `${line.join(',')}\r\n`).join('');
  return 'handled' as const;
});

export const usagePages = [...usageReport, usageFile];

/** The path of the page, for an agent (id) or with a counterpart (handle). */
export function usageAddress(wanted: Wanted, file = path): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(wanted)) if (value !== undefined) query.set(name, value);
  return query.size === 0 ? file : `${file}?${query.toString()}`;
}

const numberColumn = (title: Column<Usage>['title'], numberOf: (usage: Usage) => number): Column<Usage> => ({
  title,
  isNumber: true,
  cell: (usage) => numbers.format(numberOf(usage)),
});

const numberColumns: readonly Column<Usage>[] = [
  numberColumn('Sent', ({ sent }) => sent.messages),
  numberColumn('Received', ({ received }) => received.messages),
  numberColumn('Tokens sent', ({ sent }) => estimateTokens(sent.bytes)),
  numberColumn('Tokens received', ({ received }) => estimateTokens(received.bytes)),
  numberColumn(
    <abbr title="Messages that the loop guard refused">Loops</abbr>,
    ({ stopped_loops }) => stopped_loops,
  ),
];

const hasUsage = ({ sent, received, stopped_loops }: Usage): boolean =>
  sent.messages + received.messages + stopped_loops > 0;

const bytesOf = ({ sent, received }: Usage): number => sent.bytes + received.bytes;

/** Agents or days, each with a bar for its tokens. */
function withBars<T extends Usage>(name: Column<T>, rows: readonly T[]): readonly Column<T>[] {
  const max = Math.max(1, ...rows.map(bytesOf));
  const bar: Column<T> = {
    title: 'Tokens',
    class: 'only-wide',
    cell: (usage) => (
      <svg class="bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
        <rect width={(bytesOf(usage) / max) * 100} height="1" />
      </svg>
    ),
  };
  return [name, bar, ...numberColumns];
}

function agentColumn(addressOf: (agent: NonNullable<UsageOfAgent['agent']>) => string): Column<UsageOfAgent> {
  return {
    title: 'Agent',
    cell: ({ agent }) =>
      agent ? (
        <a href={addressOf(agent)}>
          <Handle of={agent.canonical_handle} />
        </a>
      ) : (
        'Others'
      ),
  };
}

const keyOf = ({ agent }: UsageOfAgent): string => agent?.id ?? 'others';

function Report({ wanted, report }: { wanted: Wanted; report: Report }) {
  const { total, days, agents, counterparts, answerTimes } = report;
  if (!hasUsage(total))
    return (
      <Card>
        <Empty title="No messages">
          Messages are counted within seconds after one of your agents sends or receives them.
        </Empty>
      </Card>
    );
  const median: Column<UsageOfAgent> = {
    title: <abbr title="Median time from a task to its answer">Answers in</abbr>,
    isNumber: true,
    cell: ({ agent }) => {
      const time = answerTimes.get(agent?.id ?? '');
      return time === undefined ? '' : lengthText(time);
    },
  };
  const ofAgent = agentColumn(({ id }) => usageAddress({ ...wanted, agent: id }));
  const ofCounterpart = agentColumn(({ canonical_handle }) =>
    usageAddress({ ...wanted, counterpart: canonical_handle }),
  );
  const busyDays = days.filter(hasUsage).toReversed();
  return (
    <>
      <Card
        title="By agent"
        action={
          <a href={usageAddress(wanted, csvPath)} data-turbo="false">
            CSV
          </a>
        }
      >
        <Table
          caption="Usage by agent"
          columns={[...withBars(ofAgent, agents), median]}
          items={agents}
          keyOf={keyOf}
        />
      </Card>
      <Card title="By day">
        <Table
          caption="Usage by day"
          columns={withBars(dayColumn, busyDays)}
          items={busyDays}
          keyOf={({ day }) => presentDay(day)}
        />
      </Card>
      {counterparts.length > 0 && (
        <Card title="By counterpart">
          <p>The 50 with the most tokens. A message to several agents counts for each.</p>
          <Table
            caption="Usage by counterpart"
            columns={withBars(ofCounterpart, counterparts)}
            items={counterparts}
            keyOf={keyOf}
          />
        </Card>
      )}
    </>
  );
}

const dayColumn: Column<Usage & { day: number }> = {
  title: 'Day',
  cell: ({ day }) => <time dateTime={presentDay(day)}>{presentDay(day)}</time>,
};
