import { expect, test } from 'vitest';
import { remoteThreadsRepository } from '../../../../src/repositories/remote/threads.ts';
import { collectPlans, explainQuery, flattenPlan, queryableOf } from '../../../support/query-plans.ts';
import { connectTo, createTestDatabase } from '../../../support/servers/postgres/database.ts';
import { use } from '../../../support/use.ts';
import { waitUntil } from '../../webhooks/setup.ts';
import { meetRemote, useInstallation } from '../setup.ts';

const service = useInstallation();
const database = use(createTestDatabase);

const tomorrow = () => Date.now() + 24 * 60 * 60 * 1000;

test('the sweep finds a thread with a message that is not accepted, and no idle one', async () => {
  const { server, ann, remote } = await meetRemote(service);
  const [idle, waiting] = [await service.thread(ann, remote), await service.thread(ann, remote)];
  await service.ask(ann, { thread_id: idle }, 'When?');
  await waitUntil(async () => (await service.messages(ann, idle)).length).toBe(2);
  const due = async () => {
    const found = await service.core.db.remoteThreads.listDue(tomorrow(), '', 100);
    return found.filter((id) => id === idle || id === waiting);
  };
  await waitUntil(due).toEqual([]);

  server.failNext('SendMessage', { status: 503, headers: { 'Retry-After': '3600' } });
  await service.send(ann, waiting, 'silent');
  await waitUntil(due).toEqual([waiting]);
  // A worker that has the thread notes no message that came since. The delivery of its event does.
  const [row] = await service.sql<{ last_sequence: number }>(
    'select last_sequence from remote_threads where thread_id = $1',
    [waiting],
  );
  expect(row?.last_sequence).toBe(1);
});

/** Fills a database with threads. The first ones have a waiting message, and the next ones an open task. */
async function openFilledDatabase(count: { threads: number; waiting: number; open: number }) {
  const client = await connectTo(database.url);
  await client.query('set session_replication_role = replica');
  await client.query(
    `insert into remote_threads (thread_id, agent_id, position, last_sequence, next_at, poll_at)
     select 'thd_' || lpad(n::text, 26, '0'), 'agt_1', case when n <= $2 then 6 else 7 end, 7, 0, case when n > $2 and n <= $2 + $3 then $4::bigint end
     from generate_series(1, $1) n`,
    [count.threads, count.waiting, count.open, tomorrow()],
  );
  await client.query('vacuum analyze remote_threads');
  return client;
}

test('the cost of the sweep, and of the oldest waiting message, does not grow with the idle threads', async () => {
  const work = { waiting: 20, open: 10 };
  const client = await openFilledDatabase({ threads: 30_000, ...work });
  const db = queryableOf(client);
  const { listDue, findOldestWaiting } = remoteThreadsRepository(db);
  expect(await listDue(Date.now(), '', 1_000)).toHaveLength(work.waiting);
  await findOldestWaiting(1_000);

  const texts: [string, readonly unknown[]][] = [];
  const record = {
    query: async <Row extends object>({ text }: { text: string }, values: readonly unknown[]) => {
      texts.push([text, values]);
      return db.query<Row>({ text }, values);
    },
  };
  const recorded = remoteThreadsRepository(record);
  await recorded.listDue(Date.now(), '', 1_000);
  await recorded.findOldestWaiting(1_000);
  for (const [text, values] of texts) {
    const nodes = (await explainQuery(db, text, values, ', analyze')).flatMap(flattenPlan);
    const reads = nodes.filter((node) => node['Relation Name'] === 'remote_threads');
    expect(reads.map((node) => node['Index Name'])).toEqual(['remote_threads_work']);
    const rows = reads.map((node) => (node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0));
    expect(rows[0]).toBeLessThanOrEqual(work.waiting + work.open);
  }
  // Also where the plan is made once, for all values.
  const plans = await collectPlans(db, (to) => remoteThreadsRepository(to).listDue(Date.now(), '', 1_000));
  const names = plans.flatMap(flattenPlan).flatMap((node) => node['Index Name'] ?? []);
  expect(names.filter((name) => name.startsWith('remote_threads'))).toEqual(
    plans.map(() => 'remote_threads_work'),
  );
});
