import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { DomainError } from '../../../../packages/core/src/domain/errors.ts';
import { startService, type TestAgent, type TestService } from '../../../support/service.ts';
import { createAgent, openThread, type TestThread } from './warm-threads.ts';

let service: TestService;
let names: string[] = [];

beforeAll(async () => {
  const { query } = pg.Client.prototype;
  function record(this: pg.Client, statement: pg.QueryConfig | string, ...rest: unknown[]): unknown {
    if (typeof statement !== 'string' && statement.name !== undefined) names.push(statement.name);
    return Reflect.apply(query, this, [statement, ...rest]);
  }
  vi.spyOn(pg.Client.prototype, 'query').mockImplementation(record);
  service = await startService({ worker: false, env: { LOG_LEVEL: 'silent', SEND_CONTEXT: 'on' } });
});
afterAll(() => service.stop());
afterAll(() => void vi.restoreAllMocks());

/** Members of a thread in which both have sent. */
async function createWarmMembers(): Promise<{ ann: TestAgent; bob: TestAgent; thread: TestThread }> {
  const process = { service, apis: [service.api, service.api] as const };
  const [ann, bob] = [await createAgent(process), await createAgent(process)];
  const thread = await openThread(process, [ann, bob]);
  await thread.warmUp([ann, bob]);
  return { ann, bob, thread };
}

const watched = new Set(['lock_unchanged', 'lock_unlocked_threads', 'lock_threads', 'audience', 'append']);

/** The watched statements of sends while `run` runs, in their order. */
async function listStatements(run: () => Promise<unknown>): Promise<string[]> {
  names = [];
  await run();
  return names
    .filter((name) => name.startsWith('message_batches.'))
    .map((name) => name.slice('message_batches.'.length))
    .filter((name) => watched.has(name));
}

const raiseVersion = ({ id }: TestAgent) =>
  service.sql('update feed_heads set relation_version = relation_version + 1 where agent_id = $1', [id]);

/** How often a thread was a hit, a miss or stale, in the transactions of sends so far. */
async function countOutcomes(): Promise<Record<string, number>> {
  const { values } = await service.core.metrics.sendThreads.get();
  return Object.fromEntries(values.map(({ labels, value }) => [String(labels.outcome), value]));
}

const read = ['lock_unlocked_threads', 'audience', 'append'];
const fromCache = ['lock_unchanged', 'append'];

test('a send in a warm thread reads nothing first', async () => {
  const { ann, bob, thread } = await createWarmMembers();
  for (const agent of [ann, bob, bob])
    expect(await listStatements(() => thread.send(agent))).toEqual(fromCache);
});

test('the first send of each member reads', async () => {
  const process = { service, apis: [service.api, service.api] as const };
  const [ann, bob] = [await createAgent(process), await createAgent(process)];
  const thread = await openThread(process, [ann, bob]);
  expect(await listStatements(() => thread.send(ann))).toEqual(read);
  expect(await listStatements(() => thread.send(bob))).toEqual(read);
  expect(await listStatements(() => thread.send(ann))).toEqual(fromCache);
});

test('a send that relies on a stale thread runs again with reads, once; later ones read until the cache matches again', async () => {
  const { ann, bob, thread } = await createWarmMembers();
  await raiseVersion(bob);
  expect(await listStatements(() => thread.send(ann))).toEqual([...fromCache, ...read]);
  expect(await listStatements(() => thread.send(ann))).toEqual(read);
  expect(await listStatements(() => thread.send(ann))).toEqual(fromCache);
  expect(await thread.list(ann)).toHaveLength(8 + 3);
});

test('the metrics count where the state of each thread came from', async () => {
  const { ann, bob, thread } = await createWarmMembers();
  const before = await countOutcomes();
  await thread.send(ann);
  await raiseVersion(bob);
  await thread.send(ann);
  await thread.send(ann);
  const after = await countOutcomes();
  const counted = Object.entries(after).map(([outcome, count]) => [outcome, count - (before[outcome] ?? 0)]);
  expect(Object.fromEntries(counted)).toEqual({ hit: 1, stale: 1, miss: 1 });
});

test('a refusal is read, and stores nothing about the sender', async () => {
  const { ann, bob, thread } = await createWarmMembers();
  await raiseVersion(ann);
  await service.sql('update agents set paused = true where id = $1', [bob.id]);
  expect(await listStatements(() => thread.send(ann))).toEqual([
    ...fromCache,
    'lock_unlocked_threads',
    'audience',
  ]);
  expect(await listStatements(() => thread.send(ann))).toEqual(['lock_unlocked_threads', 'audience']);
});

test('a database that fails between both attempts leaves no call without an answer', async () => {
  const { ann, bob, thread } = await createWarmMembers();
  await raiseVersion(bob);
  const unavailable = new DomainError('UNAVAILABLE', 'Retry.', { retry_after: 1 });
  const lookUp = vi.spyOn(service.core.unitOfWork, 'read').mockRejectedValueOnce(unavailable);
  expect((await thread.send(ann)).status).toBe(503);
  expect(lookUp).toHaveBeenCalledOnce();
  expect((await thread.send(ann)).status).toBe(201);
  expect(await thread.list(ann)).toHaveLength(8 + 1);
});
