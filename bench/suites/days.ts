import { randomUUID } from 'node:crypto';
import { system } from '../../packages/core/src/domain/auth/audit.ts';
import { basicScopes } from '../../packages/core/src/domain/auth/scopes.ts';
import { maintenanceTasks, toMaintenanceJob } from '../../src/jobs/maintenance.ts';
import { setNotificationTiming, setNotificationWebhook } from '../../src/services/notifications/settings.ts';
import { waitUntil } from '../../src/shared/wait-until.ts';
import {
  createMembers,
  createPairs,
  createThreads,
  issueTokenFor,
  type Member,
} from '../../scripts/parts/population.ts';
import { startWebhookReceiver } from '../../scripts/parts/webhook-receiver.ts';
import { isFlat } from '../load/growth.ts';
import { newKey, openHttpPool } from '../load/http-client.ts';
import { percentiles } from '../load/percentiles.ts';
import { openSenders, waitForQueues } from '../load/senders.ts';
import { findMovableClock, runWithMovableClock } from '../start/movable-clock.ts';
import { garbageCollectionArguments } from '../start/resident-memory.ts';
import { type Bench, type Service, startService } from '../start/service.ts';
import { readTableSizes, takeSnapshot, toMegabytes } from '../start/snapshot.ts';
import { renewTokens } from './soak.ts';

/** With these, everything that expires is removed within three days. */
const retention = { FEED_RETENTION_DAYS: '1', MESSAGE_RETENTION_DAYS: '2', TASK_DAYS: '1' };
const day = 24;
/** Messages stay for two days in partitions of one. After three days nothing grows: the last two days are compared. */
const minHours = 5 * day;
/** Rows of a day relative to the one before. */
const rowTolerance = 1.05;
const secondsPerHour = 3_600;
/** Of real time, in each hour. */
const loadSeconds = 6;
const questions = 3;
const uploads = 5;
const claims = 5;
const memoryParts = ['api_mb', 'worker_mb', 'postgres_mb', 'redis_mb'] as const;

/**
 * Days of the service in minutes: some seconds of load in each hour, then the clock of all processes moves to the next one. Everything that
 * ends with time does: tokens, leases, tasks, idempotency keys, uploads, partitions; people get daily messages.
 */
export async function measureDays(bench: Bench): Promise<object> {
  const clock = findMovableClock();
  if (!clock) return runWithMovableClock(bench);
  const { hours: total, rate } = bench.options.days;
  if (total < minHours) throw new Error(`--hours: at least ${minHours}`);
  const settings = { ...retention, ...clock.env, WEBHOOK_NETWORKS: '127.0.0.0/8' };
  const service = await startService(bench, {
    settings,
    postgresEnv: clock.env,
    nodeArguments: garbageCollectionArguments,
  });
  const receiver = await startWebhookReceiver();
  bench.onEnd(receiver.close);
  let daily_messages = 0;
  const actors = await createActors(
    service,
    receiver.addUrl(() => (daily_messages += 1)),
  );
  const threads = await createPairs(service.core, 'days', bench.options.sending.threads);
  const hours: Hour[] = [];
  const counts = { messages: 0, lost: 0, duplicated: 0 };
  while (hours.length < total) {
    const renewed = await renewTokens(service, threads);
    const senders = await openSenders(bench, service, renewed);
    const delays = await senders.sendAtRate(rate, loadSeconds);
    const counted = await senders.count();
    senders.close();
    for (const name of ['messages', 'lost', 'duplicated'] as const) counts[name] += counted[name];
    await act(bench, service, actors);
    await waitForQueues(service, bench.signal);
    for (const pid of Object.values(service.pids).flat()) process.kill(pid, 'SIGUSR2');
    clock.advance(secondsPerHour);
    await service.core.clock.measure();
    await maintain(bench, service);
    const hour = await readHour(service, hours.length + 1, delays);
    hours.push(hour);
    const figures = ['tables_mb', ...memoryParts] as const;
    bench.log(`hour ${hour.hour}: ${figures.map((name) => `${name} ${hour[name] ?? '–'}`).join(', ')}`);
  }
  const grown = findGrown(hours);
  return { rate, hours, ...counts, daily_messages, left: await countLeft(service), grown };
}

interface Hour {
  hour: number;
  p99_ms: number;
  /** API and worker, after garbage collection. The load of some seconds an hour leaves garbage for hours. */
  api_mb: number;
  worker_mb: number;
  postgres_mb: number;
  redis_mb: number | null;
  queued: number;
  outbox: number;
  /** Of all tables. */
  tables_mb: number;
  rows: Record<string, number>;
}

interface Actors {
  asker: Member;
  /** Answers nothing. */
  silent: Member;
  /** Abandons what it claims. */
  consumer: Member;
  /** The thread of asker and consumer. */
  thread_id: string;
  /** Of a person who gets daily messages. */
  agent: Member;
}

async function createActors({ core }: Service, url: string): Promise<Actors> {
  const [asker, silent, consumer, agent] = await createMembers(core, 'day', 4);
  if (!asker || !silent || !consumer || !agent) throw new Error('there are no agents');
  await core.unitOfWork.write(system, async (work) => {
    const limits = { lease_seconds: 60, max_attempts: 5, ordered_by_thread: false, position: 0 };
    await work.db.inboxes.save({ agent_id: consumer.id, types: ['message.created'], ...limits }, work.now);
    const person = await work.db.owners.find(agent.handle.split('.')[0] ?? '');
    if (!person) throw new Error(`${agent.handle} has no owner`);
    await setNotificationWebhook(work, person.id, url);
    await setNotificationTiming(work, person.id, { timing: 'daily', hour: 9, time_zone: 'UTC' });
  });
  const [thread] = await createThreads(core, [[asker, consumer]]);
  return { asker, silent, consumer, thread_id: thread?.id ?? '', agent };
}

/** Questions and files that nothing answers or sends, and leases that are abandoned. */
async function act({ onEnd }: Bench, { base, core }: Service, actors: Actors): Promise<void> {
  const pool = openHttpPool(base);
  onEnd(pool.close);
  const tokenOf = ({ handle }: Member) => issueTokenFor(core, handle, 'api', basicScopes);
  const [asker, consumer] = [await tokenOf(actors.asker), await tokenOf(actors.consumer)];
  const post = (token: string, path: string, body: object) =>
    pool.request({ path, token, headers: newKey(), body });
  for (let number = 0; number < questions; number += 1) {
    const question = { content: `Question ${number}`, wait_seconds: 0 };
    await post(asker, '/v1/threads/ask', { ...question, with_handle: actors.silent.handle });
  }
  const content = 'May I be away for a week?';
  const personal = { with_handle: actors.agent.handle, content, metadata: { asks_person: true } };
  await post(asker, '/v1/threads/ask', { ...personal, wait_seconds: 0 });
  for (let number = 0; number < uploads; number += 1) {
    const body = new FormData();
    body.set('file', new Blob(['x'.repeat(10_000)]), `file-${number}.txt`);
    const headers = { authorization: `Bearer ${asker}`, 'idempotency-key': randomUUID() };
    const answer = await fetch(`${base}/v1/attachments`, { method: 'POST', headers, body });
    if (answer.status !== 201) throw new Error(`an upload answered ${await answer.text()}`);
  }
  await pool.sendMessage(actors.thread_id, asker, 'One more item');
  await post(consumer, '/v1/inbox/leases', { max: claims, wait_seconds: 0 });
  pool.close();
}

/** Runs every maintenance task once, as in the hour that was left out. */
async function maintain({ signal }: Bench, { core: { queues } }: Service): Promise<void> {
  await queues.enqueue(
    Object.entries(maintenanceTasks).map(([task, period]) => toMaintenanceJob(task, period, Date.now())),
  );
  const isIdle = async () => (await queues.depths()).every(({ waiting, active }) => waiting + active === 0);
  if (!(await waitUntil(isIdle, { timeoutMs: 60_000, intervalMs: 50, signal })))
    throw new Error('maintenance did not end');
}

async function readHour(service: Service, hour: number, delays: readonly number[]): Promise<Hour> {
  const tables = await readTableSizes(service);
  return {
    hour,
    p99_ms: percentiles(delays).p99,
    ...(await takeSnapshot(service)),
    tables_mb: toMegabytes(tables.reduce((total, { bytes }) => total + bytes, 0)),
    rows: Object.fromEntries(tables.map(({ name, rows }) => [name, rows])),
  };
}

/** Tables that keep their rows for longer than the run, and `presence`, which follows the connections. */
const kept = new Set([
  'audit_log',
  'notification_items',
  'presence',
  'threads',
  'thread_members',
  'usage_days',
]);

/** Memory that rises in the second half, and tables whose last day has more rows than the one before. */
function findGrown(hours: readonly Hour[]): string[] {
  const second = hours.slice(Math.floor(hours.length / 2));
  const [before, last] = [hours.slice(-2 * day, -day), hours.slice(-day)];
  const peak = (name: string, of: readonly Hour[]) => Math.max(...of.map(({ rows }) => rows[name] ?? 0));
  const names = Object.keys(hours.at(-1)?.rows ?? {});
  return [
    ...memoryParts.filter((name) => !isFlat(second.map((each) => each[name] ?? 0))),
    ...names
      .filter(
        (name) => !kept.has(name) && peak(name, last) > peak(name, before) * rowTolerance + rowTolerance,
      )
      .map((name) => `table ${name}`),
  ];
}

/** Rows whose time is over by more than the hour between two runs of maintenance. All must be 0. */
async function countLeft({ database }: Service): Promise<Record<string, number>> {
  const hour = secondsPerHour * 1_000;
  const conditions = {
    tasks: `ended_at is null and expires_at < $1::bigint - ${hour}`,
    access_tokens: `expires_at < $1::bigint - ${hour}`,
    idempotency_keys: `created_at < $1::bigint - ${25 * hour}`,
    attachments: `message_id is null and expires_at < $1::bigint - ${hour}`,
    // They are kept a day longer than feed entries.
    events: `created_at < $1::bigint - ${73 * hour}`,
    messages: `created_at < $1::bigint - ${73 * hour}`,
    outbox: 'created_at <= $1',
  };
  const left: Record<string, number> = {};
  for (const [table, condition] of Object.entries(conditions)) {
    const text = `select count(*)::int as rows from ${table} where ${condition}`;
    left[table] = (await database.query<{ rows: number }>({ text }, [Date.now()]))[0]?.rows ?? 0;
  }
  return left;
}
