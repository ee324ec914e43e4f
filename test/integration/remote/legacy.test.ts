import { expect, onTestFinished, test } from 'vitest';
import { startLegacyServer } from '../../support/a2a/legacy-server.ts';
import { waitUntil } from '../webhooks/setup.ts';
import { storyOf, useInstallation } from './setup.ts';

/** No test waits for a third attempt. */
const service = useInstallation({ pacing: { remoteScheduleMs: [0, 20, 3_600_000] } });

async function meetLegacy() {
  const server = await startLegacyServer();
  onTestFinished(() => server.close());
  const ann = await service.agent();
  const remote = await service.addRemote(ann, { card_url: server.cardUrl });
  return { server, ann, remote };
}

test('an agent of A2A 0.3 gets a question, and its answer is read by polling', async () => {
  const { server, ann, remote } = await meetLegacy();
  expect((await service.readRemote(ann, remote.id)).interface).toMatchObject({
    binding: 'JSONRPC',
    version: '0.3',
  });
  const { thread_id, message_id, task_id } = await service.ask(ann, remote, 'When does it arrive?');
  await waitUntil(async () => {
    await service.pass(thread_id);
    return (await service.readTask(ann, task_id)).state;
  }).toBe('completed');
  expect(storyOf(await service.messages(ann, thread_id), ann)).toEqual([
    'here: When does it arrive?',
    'there: Done: When does it arrive?',
  ]);
  expect(server.calls[0]).toMatchObject({
    method: 'message/send',
    params: {
      message: {
        kind: 'message',
        messageId: message_id,
        role: 'user',
        parts: [{ kind: 'text', text: 'When does it arrive?' }],
      },
      configuration: { blocking: false },
    },
  });
  expect(server.calls.filter(({ method }) => method === 'message/send')).toHaveLength(1);
  expect(server.calls.map(({ method }) => method)).toContain('tasks/get');
  await waitUntil(() => service.marks(ann, thread_id, remote)).toEqual({ delivered: 1, read: 1, handled: 1 });
});

test('it asks back, and continues in the same task', async () => {
  const { server, ann, remote } = await meetLegacy();
  const { thread_id, task_id } = await service.ask(ann, remote, 'ask me');
  await waitUntil(async () => (await service.readTask(ann, task_id)).state).toBe('input_required');
  await service.send(ann, thread_id, 'The red one.');
  await waitUntil(async () => {
    await service.pass(thread_id);
    return (await service.readTask(ann, task_id)).state;
  }).toBe('completed');
  expect(storyOf(await service.messages(ann, thread_id), ann)).toEqual([
    'here: ask me',
    'there: Which one?',
    'here: The red one.',
    'there: Done: The red one.',
  ]);
  expect(server.tasks()).toHaveLength(1);
});

test('it answers with a message in place of a task', async () => {
  const { ann, remote } = await meetLegacy();
  const { thread_id, task_id } = await service.ask(ann, remote, 'direct, please');
  await waitUntil(async () => (await service.readTask(ann, task_id)).state).toBe('completed');
  expect(storyOf(await service.messages(ann, thread_id), ann)).toEqual([
    'here: direct, please',
    'there: Done: direct, please',
  ]);
});

test('a task that is canceled here is canceled there', async () => {
  const { server, ann, remote } = await meetLegacy();
  const { task_id } = await service.ask(ann, remote, 'silent');
  await waitUntil(async () => (await service.readTask(ann, task_id)).delivery).toBe('delivered');
  expect((await service.post(ann, `/tasks/${task_id}/cancel`)).body.state).toBe('canceled');
  await waitUntil(() => server.tasks().map(({ status }) => status.state)).toEqual(['canceled']);
});

test('a message whose answer is lost becomes unknown, because A2A 0.3 has no list of tasks to find it in', async () => {
  const { server, ann, remote } = await meetLegacy();
  const events = await service.follow(ann, 'message.undeliverable');
  server.dropAnswer('message/send');
  const { message_id, thread_id } = await service.ask(ann, remote, 'silent');
  await service.send(ann, thread_id, 'direct, please');
  await waitUntil(async () => storyOf(await service.messages(ann, thread_id), ann)).toContain(
    'there: Done: direct, please',
  );
  expect(await events()).toMatchObject([{ message_id, outcome: 'unknown' }]);
  expect(server.calls.map(({ method }) => method)).toEqual(['message/send', 'message/send']);
});
