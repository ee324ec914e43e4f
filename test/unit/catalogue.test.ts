import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ZodError } from 'zod';
import type { Core } from '../../src/compose.ts';
import { loadConfig } from '../../src/config.ts';
import { eventOf, eventTypes } from '../../packages/core/src/events/list.ts';
import { scopes } from '../../packages/core/src/domain/auth/scopes.ts';
import { queueNames } from '../../src/jobs/define.ts';
import {
  delivery,
  jobForEvent,
  messageDelivery,
  outboxJobs,
  packJobs,
  searchIndexing,
} from '../../src/jobs/outbox-jobs.ts';
import { maintenance } from '../../src/jobs/maintenance.ts';
import { remoteDelivery } from '../../src/jobs/posting.ts';
import { webhookPosting } from '../../src/jobs/webhooks.ts';
import { catalogue } from '../../src/operations/catalogue.ts';
import { createLifecycle } from '../../src/start/lifecycle.ts';
import { createLogger } from '../../src/platform/observability/logger.ts';
import { createMetrics } from '../../src/platform/observability/metrics.ts';
import type { JobHandler, JobQueues } from '../../src/platform/queues/job-queues.ts';
import { pathsOf } from '../../src/transports/rest/route.ts';
import { consumeQueues } from '../../workers/consume-queues.ts';
import { createClock } from '../../src/shared/clock.ts';
import { startWorker } from '../../workers/start.ts';

/** The values that are in a list more than once. */
function repeated(values: readonly string[]): string[] {
  return values.filter((value, index) => values.indexOf(value) !== index);
}

const routes = catalogue.flatMap(({ name, rest }) =>
  rest ? pathsOf(rest).map((path) => ({ name, method: rest.method, path, rest })) : [],
);

describe('operations', () => {
  test('have unique names in snake_case', () => {
    expect(repeated(catalogue.map(({ name }) => name))).toEqual([]);
    expect(catalogue.map(({ name }) => name).filter((name) => !/^[a-z]+(_[a-z]+)*$/.test(name))).toEqual([]);
  });

  test('are in files of the same name', () => {
    const folder = join(import.meta.dirname, '../../src/operations');
    const files = catalogue.map(({ name }) => `${name.replaceAll('_', '-')}.ts`);
    const present = new Set(
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => basename(path)),
    );
    expect(files.filter((file) => !present.has(file))).toEqual([]);
  });

  test('have unique methods and paths, whatever the names of their parameters', () => {
    const shapes = routes.map(({ method, path }) => `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`);
    expect(repeated(shapes)).toEqual([]);
  });

  test('have unique tools and resources', () => {
    expect(repeated(catalogue.flatMap(({ name, tool }) => (tool ? [tool.name ?? name] : [])))).toEqual([]);
    expect(repeated(catalogue.flatMap(({ resource }) => (resource ? [resource.uri] : [])))).toEqual([]);
  });

  test('need scopes that exist', () => {
    const known = new Set<string>([...scopes, 'any']);
    expect(
      catalogue.filter(({ scope }) => ![scope].flat().every((one) => known.has(one))).map(({ name }) => name),
    ).toEqual([]);
    expect(eventTypes.filter((type) => !known.has(eventOf(type).scope))).toEqual([]);
  });

  test('change nothing by GET, and require a key for every POST that creates something', () => {
    const reads = catalogue.filter(({ rest }) => rest?.method === 'GET');
    expect(reads.filter(({ kind }) => kind !== 'read').map(({ name }) => name)).toEqual([]);
    const makers = catalogue.filter(({ rest }) => rest?.method === 'POST' && rest.status === 201);
    expect(makers.filter(({ rest }) => !rest?.idempotency).map(({ name }) => name)).toEqual([]);
  });
});

/** Operations with a separate rate limit, by route and by tool; all others share the default. */
const budgetOf = new Map(
  Object.entries({
    'POST /threads': 'create_thread',
    create_thread: 'create_thread',
    'POST /threads/{}/messages': 'send_message',
    'POST /threads/{}/messages:batch': 'send_message',
    send_message: 'send_message',
    'POST /threads/{}/ask': 'send_message',
    'POST /threads/ask': 'send_message',
    ask: 'send_message',
    'POST /inbox/leases/{}/acknowledge': 'send_message',
    acknowledge_message: 'send_message',
    'GET /messages/search': 'message_search',
    'GET /search/conversations': 'message_search',
    search_messages: 'message_search',
    'POST /tasks': 'send_message',
    'POST /tasks/{}/update': 'send_message',
    update_task: 'send_message',
    'POST /contacts/requests': 'contact_request',
    request_contact: 'contact_request',
    'POST /webhooks/{}/test': 'webhook_test',
    'POST /remote-agents': 'contact_request',
    'POST /remote-agents/{}/refresh': 'webhook_test',
  }),
);

describe('limits', () => {
  test('are the documented ones, for every route and every tool', () => {
    const shown = catalogue.flatMap((operation) => {
      const { name, rest, tool } = operation;
      const route = rest ? [`${rest.method} ${rest.path.replaceAll(/\{\w+\}/g, '{}')}`] : [];
      return [...route, ...(tool ? [tool.name ?? name] : [])].map((face) => ({ face, operation }));
    });
    const wrong = shown.filter(({ face, operation }) => operation.limit?.budget !== budgetOf.get(face));
    expect(wrong.map(({ face }) => face)).toEqual([]);
    expect(shown.some(({ face }) => budgetOf.has(face))).toBe(true);
  });

  test('count messages by thread, whatever operation sends them', () => {
    // A reply to a lease looks its thread up: test/integration/inbox/reply-budget.test.ts.
    const senders = catalogue.filter(({ limit }) => limit?.budget === 'send_message' && !limit.findKey);
    expect(senders.map((operation) => operation.limit?.key?.({ thread_id: 'thd_1' }))).toEqual(
      senders.map(() => 'thd_1'),
    );
  });
});

describe('events and jobs', () => {
  test('every event type is delivered, by a job that exists', () => {
    for (const type of eventTypes) {
      const job = type === 'message.created' ? messageDelivery : delivery;
      expect(jobForEvent({ id: 'evt_1', type })).toEqual({ job: job.name, subject_id: 'evt_1' });
      expect(packJobs([jobForEvent({ id: 'evt_1', type })])).toHaveLength(1);
    }
  });

  test('every job has a queue that exists, and a unique name', () => {
    const contracts = [
      ...Object.values(outboxJobs),
      searchIndexing,
      webhookPosting,
      remoteDelivery,
      maintenance,
    ];
    expect(repeated(contracts.map(({ name }) => name))).toEqual([]);
    expect(contracts.filter(({ queue }) => !queueNames.includes(queue))).toEqual([]);
    expect(new Set(contracts.map(({ queue }) => queue))).toEqual(new Set(queueNames));
  });

  test('every job has exactly one handler in the worker', async () => {
    const handlers = await handlersOfAWorker();
    for (const { name, queue } of [
      ...Object.values(outboxJobs),
      searchIndexing,
      webhookPosting,
      remoteDelivery,
      maintenance,
    ]) {
      const job = { id: 'x', name, payload: { version: 0 }, attempt: 1 };
      // A handler reads the payload before anything else, and refuses this one.
      await expect(handlers.get(queue)?.(job), name).rejects.toBeInstanceOf(ZodError);
    }
    const unknown = { id: 'x', name: 'unheard-of', payload: {}, attempt: 1 };
    await expect(handlers.get('delivery')?.(unknown)).rejects.toThrow('the job unheard-of has no handler');
  });

  test('a worker refuses to start with two handlers for a job, or a queue without one', async () => {
    const handler = { contract: delivery, handle: () => Promise.resolve() };
    const parts = { queues: {} as JobQueues, concurrency: 1, onJobEnd: () => undefined };
    await expect(consumeQueues(parts, ['delivery'], [handler, handler])).rejects.toThrow('two handlers');
    await expect(consumeQueues(parts, ['delivery'], [handler])).rejects.toThrow('the queue webhooks has');
    await expect(consumeQueues(parts, ['maintenance'], [handler])).rejects.toThrow(
      'the queue maintenance has no handler',
    );
  });
});

/** Starts a worker with every role over queues that only listen; answers what it consumes them with. */
async function handlersOfAWorker(): Promise<Map<string, JobHandler>> {
  const handlers = new Map<string, JobHandler>();
  const logger = createLogger({ level: 'silent', part: 'test' });
  const lifecycle = createLifecycle(logger);
  const queues: Partial<JobQueues> = {
    enqueue: () => Promise.resolve(),
    instances: () => Promise.resolve([]),
    consume(queue, _options, handler) {
      handlers.set(queue, handler);
      return Promise.resolve({ close: () => Promise.resolve() });
    },
  };
  const config = loadConfig({
    DATABASE_URL: 'postgres://127.0.0.1',
    SECRET_KEY: '0123456789abcdef'.repeat(2),
  });
  const bus = { subscribe: () => Promise.resolve(() => Promise.resolve()) };
  const metrics = createMetrics({ version: '0', part: 'test' });
  const unitOfWork = { read: () => Promise.resolve(true) };
  const workerNodes = { upsert: () => Promise.resolve(), remove: () => Promise.resolve() };
  const feedEpoch = { identifyDatabase: () => Promise.resolve({ name: 'test', place: 'test' }) };
  const signingKeys = { list: () => Promise.resolve([]) };
  const core = {
    config,
    logger,
    clock: createClock(() => Promise.resolve(Date.now())),
    metrics,
    queues,
    bus,
    blobs: { removeDrafts: () => Promise.resolve() },
    unitOfWork,
    db: { workerNodes, feedEpoch, signingKeys },
    settings: { sendContext: {} },
    timelines: { onChange: () => undefined, start: () => undefined },
    remoteClient: { createFetch: () => fetch },
    close: () => Promise.resolve(),
  };
  await startWorker(core as unknown as Core, lifecycle);
  await lifecycle.stop('the test is over');
  return handlers;
}
