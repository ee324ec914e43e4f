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
  expect((await service.readTask(ann, task_id)).delivery).toBe('stored');
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
