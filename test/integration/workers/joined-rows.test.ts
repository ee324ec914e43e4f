import { randomUUID } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { createIndexingJob, messageDelivery, packJobs } from '../../../src/jobs/outbox-jobs.ts';
import { deliveryHandlers } from '../../../workers/delivery.ts';
import { maintenanceHandler } from '../../../workers/maintenance/tasks.ts';
import { indexMessages } from '../../../src/services/messages/search-index.ts';
import { useService } from '../../support/service.ts';

const service = useService();

const countRows = () => service.core.db.outbox.readAge();

test('the worker handles and completes the messages of one transaction, and counts each once', async () => {
  const [ann, bob] = await Promise.all([service.agent(), service.agent()]);
  const post = (path: string, body: object) => service.post(ann, path, body, { key: randomUUID() });
  const { body: thread } = await post('/threads', { with_handle: bob.handle });
  const word = `w${randomUUID().replaceAll('-', '')}`;
  const messages = Array.from({ length: 70 }, (_, at) => ({
    content: `${word} ${at}`,
    idempotency_key: randomUUID(),
  }));
  const sent = await post(`/threads/${thread.id}/messages:batch`, { messages });
  expect(sent.status, sent.text).toBe(200);
  await expect.poll(async () => (await countRows()).rows).toBe(0);
  const get = async (path: string) => (await service.get(ann, path)).body;
  const first = await get(`/messages/search?q=${word}&limit=50`);
  const second = await get(
    `/messages/search?q=${word}&limit=50&cursor=${encodeURIComponent(first.next_cursor)}`,
  );
  expect([first.results.length, second.results.length]).toEqual([50, 20]);
  const counted = await service.sql(
    `select messages from usage_days where sender_id = $1 and recipients = array[$2]`,
    [ann.id, bob.id],
  );
  expect(counted).toEqual([{ messages: 70 }]);
});

/** Sends a message and waits until its jobs are done. Then it has no search row. */
async function sendUnindexed() {
  const [ann, bob] = await Promise.all([service.agent(), service.agent()]);
  const thread = await service.thread(ann, bob);
  const sent = await service.post(ann, `/threads/${thread}/messages`, { content: 'once' });
  expect(sent.status).toBe(201);
  const id: string = sent.body.id;
  await expect.poll(async () => (await countRows()).rows).toBe(0);
  await service.sql('delete from message_search where message_id = $1', [id]);
  const [event] = await service.sql<{ id: string }>('select id from events where message_id = $1', [id]);
  const readSearchRow = () =>
    service.sql('select 1 as found from message_search where message_id = $1', [id]);
  return { ann, id, event_id: event?.id ?? '', readSearchRow };
}

const insertRow = (job: string, subject: string, due_at: number) =>
  service.sql('insert into outbox (job, subject_id, due_at, created_at) values ($1, $2, $3, 1)', [
    job,
    subject,
    due_at,
  ]);

test('the row of a message stays until it is indexed: a worker that dies after the delivery loses nothing', async () => {
  const { core } = service;
  const { ann, event_id, readSearchRow } = await sendUnindexed();
  await insertRow(messageDelivery.name, event_id, Date.now() + 3_600_000);
  const deliver = (queues: typeof core.queues) =>
    deliveryHandlers({ ...core, queues })
      .find(({ contract }) => contract.name === messageDelivery.name)
      ?.handle({ ids: [event_id] });
  await expect(
    deliver({ ...core.queues, enqueue: () => Promise.reject(new Error('it died')) }),
  ).rejects.toThrow('it died');
  // The entry of the queue is lost.
  await deliver({ ...core.queues, enqueue: () => Promise.resolve() });
  expect((await countRows()).rows).toBe(1);
  expect(await readSearchRow()).toEqual([]);
  await service.sql('update outbox set due_at = 0');
  await maintenanceHandler(core).handle({ task: 'sweep-outbox' });
  await expect.poll(async () => (await countRows()).rows).toBe(0);
  expect(await readSearchRow()).toEqual([{ found: 1 }]);
  // The row counts the message, in this test for a second time.
  const counted = await service.sql('select messages from usage_days where sender_id = $1', [ann.id]);
  expect(counted).toEqual([{ messages: 2 }]);
});

test('a search queue that takes no jobs is no fault of the messages, and an entry that failed for good is restarted', async () => {
  const { core } = service;
  const ids = [1, 2, 3].map((number) => `evt_${number}`);
  const publish = vi.fn(core.bus.publish);
  const enqueue = vi.fn<typeof core.queues.enqueue>(async (jobs) => {
    if (jobs.some(({ queue }) => queue === 'search-indexing')) throw new Error('the queue is full');
  });
  const parts = { ...core, bus: { ...core.bus, publish }, queues: { ...core.queues, enqueue } };
  const handler = deliveryHandlers(parts).find(({ contract }) => contract.name === messageDelivery.name);
  await expect(handler?.handle({ ids })).rejects.toThrow('the queue is full');
  expect(publish).toHaveBeenCalledOnce();
  expect(enqueue).toHaveBeenLastCalledWith([createIndexingJob(ids)], { retryFailed: true });
});

test('the sweep leaves rows of a newer release alone', async () => {
  await insertRow('of-a-newer-release', 'x_1', 0);
  await maintenanceHandler(service.core).handle({ task: 'sweep-outbox' });
  const rows = await service.sql(
    "delete from outbox where job = 'of-a-newer-release' returning attempts, due_at",
  );
  expect(rows).toEqual([{ attempts: 0, due_at: 0 }]);
});

test('messages are indexed once, whichever of them are indexed already, and by however many runs at a time', async () => {
  const { db } = service.core;
  const sent = [await sendUnindexed(), await sendUnindexed(), await sendUnindexed()];
  await indexMessages({ db }, [sent[1]?.event_id ?? ''], 1);
  const ids = sent.map(({ event_id }) => event_id);
  await Promise.all([ids, ids.toReversed(), ids.slice(1)].map((some) => indexMessages({ db }, some, 2)));
  const rows = await service.sql<{ message_id: string; indexed_at: number }>(
    'select message_id, indexed_at from message_search where message_id = any($1) order by message_id',
    [sent.map(({ id }) => id)],
  );
  expect(rows.map(({ message_id }) => message_id)).toEqual(sent.map(({ id }) => id).toSorted());
  expect(new Set(rows.map(({ indexed_at }) => indexed_at))).toEqual(new Set([2]));
});

test('a row is completed with all its subjects only, and can be split into one for each', async () => {
  const { outbox } = service.core.db;
  const job = 'deliver-events';
  await service.sql(
    `insert into outbox (job, subject_id, more_ids, attempts, due_at, created_at) values ($1, 'evt_1', '{evt_2,evt_3}', 3, $2, 1)`,
    [job, Date.now() + 3_600_000],
  );
  const readRows = () => service.sql('select subject_id, more_ids, attempts from outbox order by subject_id');
  await outbox.complete(job, ['evt_1', 'evt_2']);
  expect(await readRows()).toEqual([{ subject_id: 'evt_1', more_ids: ['evt_2', 'evt_3'], attempts: 3 }]);
  await outbox.split(job, ['evt_1', 'evt_2']);
  await outbox.split(job, ['evt_1', 'evt_2']);
  expect(await readRows()).toEqual(
    ['evt_1', 'evt_2', 'evt_3'].map((subject_id) => ({ subject_id, more_ids: null, attempts: 3 })),
  );
  await outbox.complete(job, ['evt_1', 'evt_2', 'evt_3']);
  expect((await countRows()).rows).toBe(0);
});

test('the sweep enqueues all subjects of a row', async () => {
  const { outbox } = service.core.db;
  await service.sql(
    `insert into outbox (job, subject_id, more_ids, due_at, created_at) values ('deliver-events', 'evt_1', '{evt_2}', 0, 1)`,
  );
  const hour = 3_600_000;
  const due = await outbox.claimDue({
    job: '',
    subject_id: '',
    names: ['deliver-events'],
    now: Date.now(),
    first: hour,
    max: hour,
    limit: 10,
  });
  expect(packJobs(due)).toMatchObject([{ name: 'deliver-events', payload: { ids: ['evt_1', 'evt_2'] } }]);
  await outbox.complete('deliver-events', ['evt_1', 'evt_2']);
});
