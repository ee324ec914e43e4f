import { beforeAll, expect, test } from 'vitest';
import { startServiceCluster } from '../../support/cluster/cluster.ts';
import { shiftedClock } from '../../support/shifted-clock.ts';
import { buildAgent } from '../../support/service.ts';
import { requestRest } from '../../clients/rest.ts';
import { inboxOf } from './setup.ts';
import { use } from '../../support/use.ts';

const cluster = use(() => startServiceCluster('postgres'), 60_000);
let api: { correct: string; ahead: string; behind: string };
beforeAll(async () => {
  const started = await Promise.all([
    cluster.startApi(),
    cluster.startApi(shiftedClock(20_000)),
    cluster.startApi(shiftedClock(-20_000)),
  ]);
  const [correct = '', ahead = '', behind = ''] = started.map(({ url }) => `${url}/v1`);
  api = { correct, ahead, behind };
}, 60_000);

/** The inbox of an agent with this many messages, each in its own thread, through each process. */
async function startInbox(messages: number) {
  const [asker, worker] = await Promise.all([buildAgent(cluster.core), buildAgent(cluster.core)]);
  const inboxes = {
    correct: inboxOf(api.correct, worker),
    ahead: inboxOf(api.ahead, worker),
    behind: inboxOf(api.behind, worker),
  };
  await inboxes.correct.turnOn({ max_attempts: 1 });
  for (let number = 0; number < messages; number += 1) {
    const post = (path: string, body: object) =>
      requestRest('POST', `${api.correct}${path}`, { token: asker.token, body });
    const thread = await post('/threads', { participants: [worker.handle] });
    expect((await post(`/threads/${thread.body.id}/messages`, { content: 'x' })).status).toBe(201);
  }
  return inboxes;
}

const readDatabaseClock = async () => {
  const text = 'select (extract(epoch from clock_timestamp()) * 1000)::bigint as now';
  const [row] = await cluster.core.database.query<{ now: number }>({ text }, []);
  return row?.now ?? 0;
};

test('a process whose clock is ahead gives out no item twice, and ends no attempt', async () => {
  const inbox = await startInbox(1);
  const [lease] = await inbox.correct.leases({ lease_seconds: 15 });
  expect(await inbox.ahead.leases({ wait_seconds: 1 })).toEqual([]);
  expect((await inbox.ahead.get()).body).toMatchObject({ ready: 0, leased: 1, dead: 0 });
  expect((await inbox.ahead.acknowledge(lease?.id ?? '')).status).toBe(200);
});

test('a lease of a process whose clock is behind lasts as long as that of another', async () => {
  const inbox = await startInbox(1);
  const [lease] = await inbox.behind.leases({ lease_seconds: 15 });
  expect(await inbox.correct.leases()).toEqual([]);
  expect((await inbox.correct.get()).body).toMatchObject({ leased: 1, dead: 0 });
  expect((await inbox.correct.acknowledge(lease?.id ?? '')).status).toBe(200);
});

test('expires_at is by the clock of the database in every process, after a claim, a renewal and a release', async () => {
  const inbox = await startInbox(2);
  for (const process of ['ahead', 'behind'] as const) {
    const before = await readDatabaseClock();
    const [lease] = await inbox[process].leases({ lease_seconds: 15 });
    const renewed = await inbox[process].renew(lease?.id ?? '', 30);
    const after = await readDatabaseClock();
    const [claimed, extended] = [lease?.expires_at ?? 0, renewed.body.expires_at];
    expect([claimed >= before + 15_000, claimed <= after + 15_000]).toEqual([true, true]);
    expect([extended >= before + 30_000, extended <= after + 30_000]).toEqual([true, true]);
  }
});
