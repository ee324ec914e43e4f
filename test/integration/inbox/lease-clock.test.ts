import { expect, test } from 'vitest';
import { createScrape } from '../../../src/ops/metrics-scrape.ts';
import { maintenanceHandler } from '../../../workers/maintenance/tasks.ts';
import { useService } from '../../support/service.ts';
import { parseMetrics } from '../ops/scrape.ts';
import { type Lease, startWork, textsOf } from './setup.ts';

const service = useService({ worker: false });

/** Has the clock of leases stand still at this time. */
async function setClock(time: number): Promise<void> {
  const text = `create or replace function lease_clock() returns bigint language sql stable as $$ select ${time}::bigint $$`;
  await service.sql(text);
}

const endLeases = () => maintenanceHandler(service.core).handle({ task: 'end-leases' });

/** Claims one item and lets its lease expire. */
async function startExpired(settings: object) {
  await setClock(Date.now());
  const work = await startWork(service, settings);
  await work.send('one');
  const [lease] = await work.inbox.leases({ consumer: 'a' });
  await setClock(lease?.expires_at ?? 0);
  return { ...work, lease: lease as Lease };
}

test('an item is not given out again one millisecond before its lease expires, and is at that time', async () => {
  await setClock(Date.now());
  const { inbox, thread, worker, send } = await startWork(service);
  await send('one');
  const [lease] = await inbox.leases({ lease_seconds: 15 });
  const end = lease?.expires_at ?? 0;
  await setClock(end - 1);
  expect(await inbox.leases()).toEqual([]);
  expect((await inbox.get()).body).toMatchObject({ leased: 1, ready: 0 });
  const sendBound = (content: string) =>
    service.post(worker, `/threads/${thread}/messages`, { content, lease_id: lease?.id });
  expect((await sendBound('in time')).status).toBe(201);
  await setClock(end);
  const late = [
    await sendBound('late'),
    await inbox.renew(lease?.id ?? ''),
    await inbox.release(lease?.id ?? ''),
    await inbox.acknowledge(lease?.id ?? '', { reply: 'late' }),
  ];
  expect(late.map(({ body }) => body.error.code)).toEqual(Array(4).fill('LEASE_LOST'));
  expect((await inbox.acknowledgeAll([lease?.id ?? ''])).body.results).toMatchObject([{ result: 'lost' }]);
  const [again] = await inbox.leases();
  expect([again?.attempt, again?.expires_at]).toEqual([2, end + 60_000]);
});

test('a renewal and a delay are counted by the same clock', async () => {
  const now = Date.now() + 3_600_000;
  await setClock(now);
  const { inbox, send } = await startWork(service);
  await send('one');
  const [lease] = await inbox.leases({ lease_seconds: 15 });
  expect((await inbox.renew(lease?.id ?? '', 90)).body.expires_at).toBe(now + 90_000);
  expect((await inbox.release(lease?.id ?? '', { delay_seconds: 30 })).body.ready_at).toBe(now + 30_000);
  await setClock(now + 29_999);
  expect(await inbox.leases()).toEqual([]);
  await setClock(now + 30_000);
  expect(textsOf(await inbox.leases())).toEqual(['one']);
});

test('an expired lease is shown as ready before anything ends it', async () => {
  const { inbox } = await startExpired({ max_attempts: 2 });
  expect((await inbox.get()).body).toMatchObject({
    ready: 1,
    leased: 0,
    dead: 0,
    consumers: [{ name: 'a', leased: 0 }],
  });
  expect((await inbox.dead()).body.items).toEqual([]);
});

test('one that was the last attempt is shown as dead, with the reason, and can be redriven or deleted', async () => {
  const { inbox, lease, send } = await startExpired({ max_attempts: 1 });
  expect((await inbox.get()).body).toMatchObject({ ready: 0, leased: 0, dead: 1, oldest_age: null });
  const [item] = (await inbox.dead()).body.items;
  const ended = { dead_at: lease.expires_at, reasons: [{ outcome: 'expired', ended_at: lease.expires_at }] };
  expect(item).toMatchObject({ id: lease.event.id, attempts: 1, ...ended });
  await endLeases();
  expect((await inbox.dead()).body.items).toEqual([item]);
  expect((await inbox.redrive(lease.event.id)).status).toBe(204);
  const [again] = await inbox.leases();
  expect(again?.attempt).toBe(1);
  await setClock(again?.expires_at ?? 0);
  expect((await inbox.remove(lease.event.id)).status).toBe(204);
  await send('two');
  expect(textsOf(await inbox.leases())).toEqual(['two']);
});

test('the metrics count expired leases as ready or dead', async () => {
  // When all leases of this file have expired.
  const readCounts = async () => {
    await setClock(Date.now() + 86_400_000);
    const { value } = parseMetrics(await createScrape(service.core)());
    return ['ready', 'leased', 'dead'].map((state) => value(`ams_inbox_${state}`) ?? 0);
  };
  const [ready = 0, leased, dead = 0] = await readCounts();
  await startExpired({ max_attempts: 1 });
  await startExpired({ max_attempts: 2 });
  expect([leased, ...(await readCounts())]).toEqual([0, ready + 1, 0, dead + 1]);
});

test('maintenance ends expired leases, announces dead items, and wakes claims that wait', async () => {
  const { worker, inbox, send } = await startWork(service, { max_attempts: 1 });
  await setClock(Date.now());
  await send('one');
  const [lease] = await inbox.leases();
  await send('two');
  const waiting = inbox.leases({ wait_seconds: 20 });
  const isWaiting = () => service.parts.live.realtime.stats().get('poll') ?? 0;
  while (isWaiting() === 0) await new Promise(setImmediate);
  await setClock(lease?.expires_at ?? 0);
  await endLeases();
  expect(textsOf(await waiting)).toEqual(['two']);
  expect((await inbox.dead()).body.items).toMatchObject([{ id: lease?.event.id }]);
  const jobs = await service.sql<{ subject_id: string }>(
    `select subject_id from outbox where subject_id like $1 || '/%'`,
    [worker.id],
  );
  expect(jobs.map(({ subject_id }) => subject_id)).toEqual([
    `${worker.id}/${lease?.event.id}/${lease?.expires_at}`,
  ]);
});
