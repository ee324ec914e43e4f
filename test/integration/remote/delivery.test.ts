import { describe, expect, test } from 'vitest';
import { bindings } from '../../clients/a2a.ts';
import type { Fault } from '../../support/a2a/remote-server.ts';
import { waitUntil } from '../webhooks/setup.ts';
import { meetRemote, storyOf, useInstallation } from './setup.ts';

const service = useInstallation();

describe.each(bindings)('an agent of another system over %s', (binding) => {
  const meet = () => meetRemote(service, { binding });

  test('answers a question with an artifact', async () => {
    const { server, ann, remote } = await meet();
    const question = await service.ask(ann, remote, 'When does it arrive?');
    await waitUntil(async () => (await service.readTask(ann, question.task_id)).state).toBe('completed');
    const messages = await service.messages(ann, question.thread_id);
    expect(storyOf(messages, ann)).toEqual([
      'here: When does it arrive?',
      'there: Done: When does it arrive?',
    ]);
    expect(messages[1]).toMatchObject({ sender: { id: remote.id }, reply_to: question.message_id });
    const task = await service.readTask(ann, question.task_id);
    expect(task.messages.map((message: { artifact: boolean }) => message.artifact)).toEqual([false, true]);
    const [call] = server.callsOf('SendMessage');
    expect(call?.params).toMatchObject({
      message: {
        messageId: question.message_id,
        role: 'ROLE_USER',
        parts: [{ text: 'When does it arrive?' }],
      },
      configuration: { returnImmediately: true },
    });
    expect(call?.headers['a2a-version']).toBe('1.0');
  });

  test('waits in the call that asks', async () => {
    const { ann, remote } = await meet();
    const { status, body } = await service.post(ann, '/threads/ask', {
      with_handle: remote.handle,
      content: 'When does it arrive?',
    });
    expect(status).toBe(201);
    expect(body.reply.content).toBe('Done: When does it arrive?');
  });

  test('works in several steps', async () => {
    const { ann, remote } = await meet();
    const { thread_id, task_id } = await service.ask(ann, remote, 'steps, please');
    await waitUntil(async () => (await service.readTask(ann, task_id)).state).toBe('completed');
    expect(storyOf(await service.messages(ann, thread_id), ann)).toEqual([
      'here: steps, please',
      'there: I look into it.',
      'there: The first result.',
      'there: The second result.',
    ]);
  });

  test('asks back, and continues in the same task', async () => {
    const { server, ann, remote } = await meet();
    const { thread_id, task_id } = await service.ask(ann, remote, 'ask me');
    await waitUntil(async () => (await service.readTask(ann, task_id)).state).toBe('input_required');
    await service.send(ann, thread_id, 'The red one.');
    await waitUntil(async () => (await service.readTask(ann, task_id)).state).toBe('completed');
    expect(storyOf(await service.messages(ann, thread_id), ann)).toEqual([
      'here: ask me',
      'there: Which one?',
      'here: The red one.',
      'there: Done: The red one.',
    ]);
    const sent = server.callsOf('SendMessage').map(({ params }) => params.message);
    const [turn] = server.agent.turnsOf('The red one.');
    expect(sent.map(({ taskId }) => taskId)).toEqual([undefined, turn?.taskId]);
  });

  test('answers with a message in place of a task', async () => {
    const { ann, remote } = await meet();
    const { thread_id, task_id } = await service.ask(ann, remote, 'direct, please');
    await waitUntil(async () => (await service.readTask(ann, task_id)).state).toBe('completed');
    await service.send(ann, thread_id, 'direct again');
    await waitUntil(async () => storyOf(await service.messages(ann, thread_id), ann)).toEqual([
      'here: direct, please',
      'there: Done: direct, please',
      'here: direct again',
      'there: Done: direct again',
    ]);
  });

  test.each([
    { text: 'fail now', state: 'failed', reason: 'It does not work.' },
    { text: 'reject now', state: 'rejected', reason: 'I do not do this.' },
  ])('ends a task as $state, with the reason', async ({ text, state, reason }) => {
    const { ann, remote } = await meet();
    const { thread_id, task_id } = await service.ask(ann, remote, text);
    await waitUntil(async () => (await service.readTask(ann, task_id)).state).toBe(state);
    expect(storyOf(await service.messages(ann, thread_id), ann)).toEqual([
      `here: ${text}`,
      `there: ${reason}`,
    ]);
  });

  test('gets the messages of a thread one at a time, in order, in one conversation', async () => {
    const { server, ann, remote } = await meet();
    const release = server.hold();
    const thread_id = await service.thread(ann, remote);
    const texts = Array.from({ length: 10 }, (_, index) => `silent ${index}`);
    for (const text of texts) await service.send(ann, thread_id, text);
    await waitUntil(() => server.texts()).toEqual(['silent 0']);
    release();
    await waitUntil(() => server.texts()).toEqual(texts);
    const contexts = server.callsOf('SendMessage').map(({ params }) => params.message.contextId);
    expect(contexts[0]).toBeUndefined();
    expect(new Set(contexts.slice(1)).size).toBe(1);
    expect(contexts[1]).toEqual(expect.any(String));
  });

  test('continues a task without a task here with the answer to its question', async () => {
    const { ann, remote } = await meet();
    const thread_id = await service.thread(ann, remote);
    await service.send(ann, thread_id, 'ask me');
    await waitUntil(async () => (await service.messages(ann, thread_id)).length).toBe(2);
    await service.send(ann, thread_id, 'The red one.');
    await waitUntil(async () => storyOf(await service.messages(ann, thread_id), ann)).toEqual([
      'here: ask me',
      'there: Which one?',
      'here: The red one.',
      'there: Done: The red one.',
    ]);
  });
});

test('two threads with one agent do not wait for each other', async () => {
  const { server, ann, remote } = await meetRemote(service);
  const [first, second] = [await service.thread(ann, remote), await service.thread(ann, remote)];
  server.failNext('SendMessage', { status: 503, headers: { 'Retry-After': '3600' } });
  await service.send(ann, first, 'The first one.');
  await waitUntil(() => server.texts()).toEqual(['The first one.']);
  await service.send(ann, second, 'The second one.');
  await waitUntil(async () => (await service.messages(ann, second)).length).toBe(2);
  expect(await service.messages(ann, first)).toHaveLength(1);
});

test('a message to another installation is given up as well when that one stays unavailable', async () => {
  const { server, ann, remote } = await meetRemote(service);
  await service.sql('update remote_agents set bound_id = $2 where agent_id = $1', [remote.id, ann.id]);
  const info = {
    '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
    reason: 'UNAVAILABLE',
    domain: 'agent-messaging-service',
  };
  const error = { code: -32_000, message: 'The database is temporarily unavailable.', data: [info] };
  server.failNext('SendMessage', { status: 503, body: { error } }, 1_000);
  const { task_id } = await service.ask(ann, remote, 'When?');
  await waitUntil(async () => (await service.readTask(ann, task_id)).state).toBe('failed');
  expect(server.texts()).toEqual(['When?', 'When?', 'When?']);
});

test('the open task of a question is canceled at the remote side with it', async () => {
  const { server, ann, remote } = await meetRemote(service);
  const { task_id } = await service.ask(ann, remote, 'silent');
  await waitUntil(() => server.agent.turnsOf('silent').length).toBe(1);
  await waitUntil(async () => (await service.readTask(ann, task_id)).delivery).toBe('delivered');
  expect((await service.post(ann, `/tasks/${task_id}/cancel`)).body.state).toBe('canceled');
  await waitUntil(() => server.callsOf('CancelTask').length).toBe(1);
  const [turn] = server.agent.turnsOf('silent');
  expect((await server.getTask(turn?.taskId ?? '')).status?.state).toBe(5);
});

test.each<{ name: string; fault: Fault }>([
  { name: 'is refused with 500', fault: { status: 500 } },
  {
    name: 'is answered with an internal error',
    fault: { status: 200, body: { error: { code: -32_603, message: 'Not possible.' } } },
  },
  { name: 'gets no answer', fault: 'lost' },
])(
  'a cancel that $name holds no message back, and is sent again when its task is read',
  async ({ fault }) => {
    const { server, ann, remote } = await meetRemote(service, { hasPush: false });
    server.failNext('CancelTask', fault, 1_000);
    const { thread_id, task_id } = await service.ask(ann, remote, 'silent');
    await waitUntil(async () => (await service.readTask(ann, task_id)).delivery).toBe('delivered');
    expect((await service.post(ann, `/tasks/${task_id}/cancel`)).body.state).toBe('canceled');
    await waitUntil(() => server.callsOf('CancelTask').length).toBeGreaterThan(0);
    await service.send(ann, thread_id, 'silent too');
    await waitUntil(() => server.texts()).toEqual(['silent', 'silent too']);
    server.recover();
    const [turn] = server.agent.turnsOf('silent');
    await waitUntil(async () => {
      await service.pass(thread_id);
      return (await server.getTask(turn?.taskId ?? '')).status?.state;
    }).toBe(5);
  },
);
