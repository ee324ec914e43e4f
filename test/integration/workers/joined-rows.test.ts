import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { requestRest } from '../../clients/rest.ts';
import { startService, type TestService } from '../../support/service.ts';

let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const countRows = () => service.core.repositories.outbox.readAge();

test('the worker handles and completes the messages of one transaction, and counts each once', async () => {
  const [ann, bob] = await Promise.all([service.agent(), service.agent()]);
  const post = (path: string, body: object) =>
    requestRest('POST', `${service.api}${path}`, { token: ann.token, key: randomUUID(), body });
  const { body: thread } = await post('/threads', { with_handle: bob.handle });
  const word = `w${randomUUID().replaceAll('-', '')}`;
  const messages = Array.from({ length: 70 }, (_, at) => ({
    content: `${word} ${at}`,
    idempotency_key: randomUUID(),
  }));
  const sent = await post(`/threads/${thread.id}/messages:batch`, { messages });
  expect(sent.status, sent.text).toBe(200);
  await expect.poll(async () => (await countRows()).rows).toBe(0);
  const get = async (path: string) =>
    (await requestRest('GET', `${service.api}${path}`, { token: ann.token })).body;
  const first = await get(`/messages/search?q=${word}&limit=50`);
  const second = await get(
    `/messages/search?q=${word}&limit=50&cursor=${encodeURIComponent(first.next_cursor)}`,
  );
  expect([first.results.length, second.results.length]).toEqual([50, 20]);
  const counted = await service.core.database.query(
    { text: `select messages from usage_days where sender_id = $1 and recipient_id = $2` },
    [ann.id, bob.id],
  );
  expect(counted).toEqual([{ messages: 70 }]);
});

test('a row that cannot be handled as a whole becomes one row for each id', async () => {
  const { outbox } = service.core.repositories;
  const insert = (subject: string) =>
    service.core.database.query(
      {
        text: `insert into outbox (job, subject_id, attempts, due_at, created_at) values ('deliver-commits', $1, 3, $2, 1)`,
      },
      [subject, Date.now() + 3_600_000],
    );
  const names = ['deliver-events', 'deliver-commits'];
  await insert('evt_1,evt_2');
  await outbox.split('deliver-events', names, 'evt_1,evt_2');
  await outbox.split('deliver-events', names, 'evt_1,evt_2');
  const rows = await service.core.database.query(
    {
      text: `select job, subject_id, attempts from outbox where subject_id like 'evt\\_%' and length(subject_id) < 10 order by subject_id`,
    },
    [],
  );
  expect(rows).toEqual(
    ['evt_1', 'evt_2'].map((subject_id) => ({ job: 'deliver-events', subject_id, attempts: 3 })),
  );
  await outbox.complete(names, ['evt_1', 'evt_2']);
  expect((await countRows()).rows).toBe(0);
});
