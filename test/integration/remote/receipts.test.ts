import { expect, test } from 'vitest';
import { waitUntil } from '../webhooks/setup.ts';
import { meetRemote, useInstallation } from './setup.ts';

const service = useInstallation();

test('a message counts as delivered when it is accepted, and as handled when its task is completed', async () => {
  const { server, ann, remote } = await meetRemote(service);
  const release = server.hold();
  const { thread_id, task_id } = await service.ask(ann, remote, 'wait');
  await waitUntil(() => server.calls.length).toBe(1);
  expect(await service.marks(ann, thread_id, remote)).toEqual({ delivered: 0, read: 0, handled: 0 });
  expect((await service.readTask(ann, task_id)).delivery).toBe('sending');
  release();
  await waitUntil(() => service.marks(ann, thread_id, remote)).toEqual({ delivered: 1, read: 0, handled: 0 });
  expect((await service.readTask(ann, task_id)).delivery).toBe('delivered');
  server.agent.turnsOf('wait')[0]?.complete('later');
  await waitUntil(async () => (await service.marks(ann, thread_id, remote)).handled).toBeGreaterThan(0);
  expect((await service.readTask(ann, task_id)).state).toBe('completed');
});

test.each(['fail now', 'reject now'])(
  'a message is not handled if its task ends otherwise: %s',
  async (text) => {
    const { ann, remote } = await meetRemote(service);
    const { thread_id, task_id } = await service.ask(ann, remote, text);
    await waitUntil(async () => (await service.messages(ann, thread_id)).length).toBe(2);
    expect((await service.readTask(ann, task_id)).delivery).toBe('delivered');
    expect((await service.marks(ann, thread_id, remote)).handled).toBe(0);
  },
);

test('the sender gets receipts as events', async () => {
  const { ann, remote } = await meetRemote(service);
  const handled = await service.follow(ann, 'message.handled');
  const { thread_id } = await service.ask(ann, remote, 'When?');
  await waitUntil(handled).toMatchObject([{ thread_id, agent: { id: remote.id } }]);
});

test('a message that is not delivered hides no later one, and is not counted as handled', async () => {
  const { server, ann, remote } = await meetRemote(service);
  const undeliverable = await service.follow(ann, 'message.undeliverable');
  server.failNext('SendMessage', { status: 500 }, 3);
  const thread_id = await service.thread(ann, remote);
  await service.send(ann, thread_id, 'One');
  await waitUntil(async () => (await undeliverable()).length).toBe(1);
  expect(await service.marks(ann, thread_id, remote)).toEqual({ delivered: 0, read: 0, handled: 0 });
  const second = await service.ask(ann, { thread_id }, 'wait');
  await waitUntil(async () => (await service.readTask(ann, second.task_id)).delivery).toBe('delivered');
});

test('receipts show what is being sent, and what was not delivered', async () => {
  const { server, ann, remote } = await meetRemote(service, { hasPush: false });
  const bob = await service.agent();
  const local = await service.thread(ann, bob);
  const readReceipts = async (id: string) =>
    (await service.get(ann, `/threads/${id}/receipts`)).body.receipts;
  for (const receipt of await readReceipts(local)) expect(receipt).not.toHaveProperty('remote');

  const thread_id = await service.thread(ann, remote);
  const readRemote = async () => {
    const receipts: {
      agent: { id: string };
      remote?: { sending_from_sequence: number | null; undelivered: object[] };
    }[] = await readReceipts(thread_id);
    const { body } = await service.get(ann, `/conversations/${thread_id}`);
    expect(body.receipts).toEqual(receipts);
    return receipts.find(({ agent }) => agent.id === remote.id)?.remote;
  };
  expect(await readRemote())?.toEqual({ sending_from_sequence: null, undelivered: [] });
  server.failNext('SendMessage', { status: 500 }, 3);
  const refused = await service.ask(ann, { thread_id }, 'One');
  await waitUntil(async () => (await readRemote())?.undelivered).toMatchObject([
    {
      message_id: refused.message_id,
      sequence: 1,
      outcome: 'undeliverable',
      error: { code: expect.any(String), message: expect.any(String) },
      failed_at: expect.any(Number),
    },
  ]);
  expect(await service.readTask(ann, refused.task_id)).toMatchObject({
    state: 'failed',
    delivery: 'undeliverable',
  });

  // The answer is lost, and the list of tasks does not tell.
  server.failNext('SendMessage', 'lost');
  server.answer('ListTasks', () => ({ tasks: [], nextPageToken: '', pageSize: 50, totalSize: 0 }));
  const lost = await service.ask(ann, { thread_id }, 'silent two');
  await waitUntil(async () => (await readRemote())?.undelivered).toMatchObject([
    { sequence: 1 },
    { message_id: lost.message_id, outcome: 'unknown' },
  ]);
  expect((await service.readTask(ann, lost.task_id)).delivery).toBe('unknown');

  server.failNext('SendMessage', { status: 503, headers: { 'Retry-After': '3600' } });
  const waiting = await service.ask(ann, { thread_id }, 'silent three');
  await service.send(ann, thread_id, 'silent four');
  await waitUntil(async () => (await readRemote())?.sending_from_sequence).toBe(3);
  expect((await service.readTask(ann, waiting.task_id)).delivery).toBe('sending');
  await waitUntil(() => server.texts()).toContain('silent three');
  await service.pass(thread_id);
  await waitUntil(async () => (await readRemote())?.sending_from_sequence).toBe(null);
  expect((await service.readTask(ann, waiting.task_id)).delivery).toBe('delivered');
  expect((await readRemote())?.undelivered).toHaveLength(2);
});
