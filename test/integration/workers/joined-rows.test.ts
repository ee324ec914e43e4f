import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { packJobs } from '../../../src/jobs/outbox-jobs.ts';
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
  const due = await outbox.claimDue(Date.now(), { first: 3_600_000, max: 3_600_000 }, 10);
  expect(packJobs(due)).toMatchObject([{ name: 'deliver-events', payload: { ids: ['evt_1', 'evt_2'] } }]);
  await outbox.complete('deliver-events', ['evt_1', 'evt_2']);
});
