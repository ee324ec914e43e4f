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
  service = await startService({ worker: false, env: { LOG_LEVEL: 'silent' } });
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
  service.core.database.query(
    { text: 'update feed_heads set relation_version = relation_version + 1 where agent_id = $1' },
    [id],
  );

/** How often a thread was known, read, or both, in the transactions of sends so far. */
async function countSources(): Promise<Record<string, number>> {
  const { values } = await service.core.metrics.sendThreads.get();
  return Object.fromEntries(values.map(({ labels, value }) => [String(labels.source), value]));
}

const read = ['lock_unlocked_threads', 'audience', 'append'];
const fromMemory = ['lock_unchanged', 'append'];

test('a send in a warm thread reads nothing first', async () => {
  const { ann, bob, thread } = await createWarmMembers();
  for (const agent of [ann, bob, bob])
    expect(await listStatements(() => thread.send(agent))).toEqual(fromMemory);
});

test('the first send of each member reads', async () => {
  const process = { service, apis: [service.api, service.api] as const };
  const [ann, bob] = [await createAgent(process), await createAgent(process)];
  const thread = await openThread(process, [ann, bob]);
  expect(await listStatements(() => thread.send(ann))).toEqual(read);
  expect(await listStatements(() => thread.send(bob))).toEqual(read);
  expect(await listStatements(() => thread.send(ann))).toEqual(fromMemory);
});

test('a send whose memory is wrong runs again with reads, once; later ones read until the memory is right again', async () => {
  const { ann, bob, thread } = await createWarmMembers();
  await raiseVersion(bob);
  expect(await listStatements(() => thread.send(ann))).toEqual([...fromMemory, ...read]);
  expect(await listStatements(() => thread.send(ann))).toEqual(read);
  expect(await listStatements(() => thread.send(ann))).toEqual(fromMemory);
  expect(await thread.list(ann)).toHaveLength(8 + 3);
});

test('the metrics count where the state of each thread came from', async () => {
  const { ann, bob, thread } = await createWarmMembers();
  const before = await countSources();
  await thread.send(ann);
  await raiseVersion(bob);
  await thread.send(ann);
  await thread.send(ann);
  const after = await countSources();
  const counted = Object.entries(after).map(([source, count]) => [source, count - (before[source] ?? 0)]);
  expect(Object.fromEntries(counted)).toEqual({ memory: 1, wrong: 1, read: 1 });
});

test('a refusal is read, and leaves no memory of the sender', async () => {
  const { ann, bob, thread } = await createWarmMembers();
  await raiseVersion(ann);
  await service.core.database.query({ text: 'update agents set paused = true where id = $1' }, [bob.id]);
  expect(await listStatements(() => thread.send(ann))).toEqual([
    ...fromMemory,
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
