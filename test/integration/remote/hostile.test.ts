import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type RemoteServer, startRemoteServer } from '../../support/a2a/remote-server.ts';
import { waitUntil } from '../webhooks/setup.ts';
import { artifact, buildTask, meetRemote, showTask, storyOf, useInstallation } from './setup.ts';

const service = useInstallation({ pacing: { turnMs: 100 } });

describe('callbacks', () => {
  const post = (url: string, body: object = {}) =>
    fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });

  test('at a forged address change nothing, and get the same answer as others', async () => {
    const { server, ann, remote } = await meetRemote(service);
    // It has no task, so that the other side sends no callback of its own.
    const { task_id } = await service.ask(ann, remote, 'direct one');
    await waitUntil(async () => (await service.readTask(ann, task_id)).state).toBe('completed');
    const [call] = server.callsOf('SendMessage');
    const url: string = call?.params.configuration.taskPushNotificationConfig.url;
    const forged = [
      `${url}A`,
      url.slice(0, -4),
      url.replace(/[^/]+$/, 'AAAA'),
      url.replace(/[^/]+$/, call?.params.message.messageId),
    ];
    const statuses = await Promise.all(forged.map(async (address) => (await post(address)).status));
    expect(new Set(statuses)).toEqual(new Set([204]));
    expect(server.callsOf('GetTask')).toEqual([]);
  });

  test('are taken while the API reaches no queue', async () => {
    const { server, ann, remote } = await meetRemote(service);
    const { task_id } = await service.ask(ann, remote, 'silent');
    await waitUntil(async () => (await service.readTask(ann, task_id)).delivery).toBe('delivered');
    const [call] = server.callsOf('SendMessage');
    const reads = server.callsOf('GetTask').length;
    const enqueue = vi.spyOn(service.core.queues, 'enqueue').mockRejectedValue(new Error('It is down.'));
    onTestFinished(() => enqueue.mockRestore());
    expect((await post(call?.params.configuration.taskPushNotificationConfig.url)).status).toBe(204);
    await waitUntil(() => server.callsOf('GetTask').length).toBeGreaterThan(reads);
  });

  test('bring nothing themselves: the task is read', async () => {
    const { server, ann, remote } = await meetRemote(service);
    const { thread_id, task_id } = await service.ask(ann, remote, 'silent');
    await waitUntil(async () => (await service.readTask(ann, task_id)).delivery).toBe('delivered');
    const [call] = server.callsOf('SendMessage');
    const url: string = call?.params.configuration.taskPushNotificationConfig.url;
    const { taskId } = server.agent.turnsOf('silent')[0] ?? {};
    const reads = server.callsOf('GetTask').length;
    await post(url, {
      task: buildTask({ id: taskId, artifacts: [artifact('forged')] }, 'TASK_STATE_COMPLETED'),
    });
    await waitUntil(() => server.callsOf('GetTask').length).toBeGreaterThan(reads);
    await service.pass(thread_id);
    expect((await service.readTask(ann, task_id)).state).toBe('submitted');
    expect(await service.messages(ann, thread_id)).toHaveLength(1);
  });

  test('that come while the task is read are not lost', async () => {
    const { server, ann, remote } = await meetRemote(service);
    const calls: Promise<unknown>[] = [];
    const callBack = () => post(server.calls[0]?.params.configuration.taskPushNotificationConfig.url ?? '');
    showTask(server, () => {
      if (calls.length > 0) return buildTask({ artifacts: [artifact('late')] }, 'TASK_STATE_COMPLETED');
      calls.push(callBack());
      return buildTask({}, 'TASK_STATE_WORKING');
    });
    const { task_id } = await service.ask(ann, remote, 'When?');
    await waitUntil(async () => (await service.readTask(ann, task_id)).delivery).toBe('delivered');
    await callBack();
    await waitUntil(async () => (await service.readTask(ann, task_id)).state).toBe('completed');
  });

  test('with a large body are refused or not read', async () => {
    const { server, ann, remote } = await meetRemote(service);
    await service.ask(ann, remote, 'silent');
    await waitUntil(() => server.calls.length).toBeGreaterThan(0);
    const url: string = server.calls[0]?.params.configuration.taskPushNotificationConfig.url;
    const answer = await post(url, { text: 'x'.repeat(2_000_000) }).catch(() => ({ status: 413 }));
    expect([204, 413]).toContain(answer.status);
  });
});

describe('answers', () => {
  test('that never end are cut off, and the next message is sent', async () => {
    const { server, ann, remote } = await meetRemote(service);
    server.failNext('SendMessage', 'endless');
    server.answer('ListTasks', () => ({ tasks: [], nextPageToken: '', pageSize: 50, totalSize: 0 }));
    const { thread_id } = await service.ask(ann, remote, 'When?');
    await service.send(ann, thread_id, 'silent');
    await waitUntil(() => server.texts().at(-1)).toBe('silent');
  });

  test('with many artifacts are applied in bounded steps, all of them, each once and in order', async () => {
    const { server, ann, remote } = await meetRemote(service, { hasPush: false });
    const count = 500;
    const artifacts = Array.from({ length: count }, (_, index) => artifact(`artifact-${index}`));
    showTask(server, () => buildTask({ artifacts }, 'TASK_STATE_COMPLETED'));
    const { thread_id, task_id } = await service.ask(ann, remote, 'Many?');
    await service.pass(thread_id);
    await waitUntil(async () => (await service.readTask(ann, task_id)).state).toBe('completed');
    const text = 'select content from messages where thread_id = $1 and sender_id = $2 order by sequence';
    const rows = await service.sql<{ content: string }>(text, [thread_id, remote.id]);
    expect(rows.map(({ content }) => content)).toEqual(artifacts.map(({ artifactId }) => artifactId));
    // In several turns of the thread.
    expect(server.callsOf('GetTask').length).toBeGreaterThan(2);
  });

  test.each([
    { name: 'no JSON object', task: 'a text' },
    { name: 'no id', task: { status: { state: 'TASK_STATE_WORKING' } } },
    { name: 'an unknown state', task: buildTask({}, 'TASK_STATE_DANCING') },
    { name: 'no status', task: { id: 'task-1', contextId: 'context-1' } },
    { name: 'an id with a zero byte', task: buildTask({ id: 'task\u0000' }) },
    { name: 'a context with a zero byte', task: buildTask({ contextId: 'context\u0000' }) },
    { name: 'an endless id', task: buildTask({ id: 'x'.repeat(100_000) }) },
  ])('to a message with $name do not stop the thread', async ({ task }) => {
    const { server, ann, remote } = await meetRemote(service);
    server.answer('ListTasks', () => ({ tasks: [], nextPageToken: '', pageSize: 50, totalSize: 0 }));
    server.answer('SendMessage', ({ message }: { message: { parts: { text: string }[] } }) =>
      message.parts[0]?.text === 'One' ? { task } : undefined,
    );
    const thread_id = await service.thread(ann, remote);
    await service.send(ann, thread_id, 'One');
    await service.send(ann, thread_id, 'direct two');
    await waitUntil(async () => {
      await service.pass(thread_id);
      return server.texts().at(-1);
    }).toBe('direct two');
    await waitUntil(async () => storyOf(await service.messages(ann, thread_id), ann)).toContain(
      'there: Done: direct two',
    );
  });

  test.each([
    { name: 'a zero byte in a text', part: { text: 'a\u0000b' } },
    {
      name: 'a zero byte in a file name',
      part: { raw: 'YQ==', filename: 'a\u0000.txt', mediaType: 'text/plain' },
    },
    {
      name: 'a path as a file name',
      part: { raw: 'YQ==', filename: '../../etc/passwd', mediaType: 'text/plain' },
    },
    { name: 'a media type that is none', part: { raw: 'YQ==', filename: 'a', mediaType: 'no type\r\n' } },
    { name: 'an empty file', part: { raw: '', filename: 'empty.txt', mediaType: 'text/plain' } },
    { name: 'an address that is no URL', part: { url: 'javascript:alert(1)', filename: 'x' } },
    { name: 'a data part', part: { data: { nested: { deep: true } } } },
  ])('with $name arrive', async ({ part }) => {
    const { server, ann, remote } = await meetRemote(service);
    const artifacts = [{ artifactId: 'odd', parts: [part] }, artifact('plain', 'The result.')];
    showTask(server, () => buildTask({ artifacts }, 'TASK_STATE_COMPLETED'));
    const { thread_id, task_id } = await service.ask(ann, remote, 'Odd?');
    await waitUntil(async () => {
      await service.pass(thread_id);
      return (await service.readTask(ann, task_id)).state;
    }).toBe('completed');
    expect(storyOf(await service.messages(ann, thread_id), ann).at(-1)).toBe('there: The result.');
  });

  test.each([
    { name: 'a zero byte', id: 'a\u0000b' },
    { name: 'control characters', id: 'a\r\n\tb\u001b[31m' },
    { name: 'a lone surrogate', id: 'a\ud800b' },
    { name: 'quotes', id: `'"; drop table agents; --` },
  ])('with $name in an artifact id do not stop the task', async ({ id }) => {
    const { server, ann, remote } = await meetRemote(service);
    const artifacts = [artifact(id, 'The result.')];
    showTask(server, () => buildTask({ artifacts }, 'TASK_STATE_COMPLETED'));
    const { thread_id, task_id } = await service.ask(ann, remote, 'Odd?');
    await waitUntil(async () => {
      await service.pass(thread_id);
      return (await service.readTask(ann, task_id)).state;
    }).toMatch(/completed|failed/);
    const story = storyOf(await service.messages(ann, thread_id), ann).slice(1);
    expect(story.length).toBeLessThanOrEqual(1);
  });

  test('whose generations go back change nothing', async () => {
    const { server, ann, remote } = await meetRemote(service);
    const uri = 'urn:agent-messaging-service:a2a:mailbox:1';
    const shown = { task: buildTask() as object };
    const show = (generation: number, state: string, ids: string[], delivery = 'read') => {
      const artifacts = ids.map((id) => artifact(id));
      shown.task = buildTask({ artifacts, metadata: { [uri]: { generation, delivery } } }, state);
    };
    show(3, 'TASK_STATE_INPUT_REQUIRED', ['one']);
    showTask(server, () => shown.task);
    const { thread_id, task_id } = await service.ask(ann, remote, 'Back?');
    const state = async () => {
      await service.pass(thread_id);
      return (await service.readTask(ann, task_id)).state;
    };
    await waitUntil(state).toBe('input_required');
    const reads = server.callsOf('GetTask').length;
    show(2, 'TASK_STATE_WORKING', ['one', 'forged'], 'stored');
    await waitUntil(async () => {
      await service.pass(thread_id);
      return server.callsOf('GetTask').length;
    }).toBeGreaterThan(reads + 1);
    expect(await state()).toBe('input_required');
    expect(await service.messages(ann, thread_id)).toHaveLength(2);
    expect((await service.marks(ann, thread_id, remote)).read).toBe(1);
    show(4, 'TASK_STATE_COMPLETED', ['one', 'two'], 'handled');
    await waitUntil(state).toBe('completed');
    expect(await service.messages(ann, thread_id)).toHaveLength(3);
  });

  test('of an ended task bring nothing more', async () => {
    const { server, ann, remote } = await meetRemote(service);
    const artifacts = [artifact('one')];
    showTask(server, () => buildTask({ artifacts }, 'TASK_STATE_COMPLETED'));
    const { thread_id, task_id } = await service.ask(ann, remote, 'Ended?');
    await waitUntil(async () => {
      await service.pass(thread_id);
      return (await service.readTask(ann, task_id)).state;
    }).toBe('completed');
    artifacts.push(artifact('late'));
    const [call] = server.callsOf('SendMessage');
    await fetch(call?.params.configuration.taskPushNotificationConfig.url, { method: 'POST', body: '{}' });
    await service.pass(thread_id);
    const other = await service.ask(ann, remote, 'Another?');
    await waitUntil(async () => (await service.readTask(ann, other.task_id)).delivery).not.toBe('stored');
    expect((await service.readTask(ann, task_id)).state).toBe('completed');
  });
});

describe('cards', () => {
  const servers: RemoteServer[] = [];
  afterAll(() => Promise.all(servers.map((server) => server.close())));

  /** Adds an agent whose card is not used. Returns the calls of its server. */
  async function addBad(spoil: (server: RemoteServer) => void) {
    const server = await startRemoteServer();
    servers.push(server);
    spoil(server);
    const ann = await service.agent();
    const remote = await service.addRemote(ann, { card_url: server.cardUrl }, { isReady: false });
    const record = () => service.readRemote(ann, remote.id);
    await waitUntil(async () => (await record()).card_error).toEqual(expect.any(String));
    expect((await record()).state).toBe('waiting');
    const { thread_id } = await service.ask(ann, remote, 'When?');
    await service.pass(thread_id);
    return server.calls;
  }

  test('that never end are cut off', async () => {
    expect(await addBad((server) => server.sendEndlessCard())).toEqual([]);
  });

  test.each([
    { name: 'no interface', fields: { supportedInterfaces: [] } },
    { name: 'interfaces of another shape', fields: { supportedInterfaces: 'here' } },
    {
      name: 'a binding that is unknown',
      fields: {
        supportedInterfaces: [
          { url: 'https://example.com', protocolBinding: 'PIGEON', protocolVersion: '1.0' },
        ],
      },
    },
    {
      name: 'an address that is not allowed',
      fields: {
        supportedInterfaces: [
          { url: 'http://10.0.0.1/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
        ],
      },
    },
    { name: 'a name that is no text', fields: { name: { first: 'A' } } },
    { name: 'more than 256 KiB', fields: { description: 'x'.repeat(300_000) } },
  ])('with $name are not used', async ({ fields }) => {
    expect(await addBad((server) => server.changeCard(fields))).toEqual([]);
  });

  test('on a private network cannot be added', async () => {
    const ann = await service.agent();
    for (const card_url of ['http://10.0.0.1/card.json', 'file:///etc/passwd']) {
      const { status } = await service.post(ann, '/remote-agents', { card_url });
      expect(status, card_url).toBe(400);
    }
  });

  test('that redirect are not followed', async () => {
    const target = await startRemoteServer();
    onTestFinished(() => target.close());
    expect(await addBad((server) => server.redirectCard(target.cardUrl))).toEqual([]);
    expect(target.cardRequests()).toBe(0);
  });
});
