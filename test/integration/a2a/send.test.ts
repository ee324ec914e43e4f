import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { mailboxExtension } from '../../../packages/core/src/domain/a2a.ts';
import { a2aAddress, bindings, createA2aClient, reasonOf, toA2aMessage } from '../../clients/a2a.ts';
import { type AgentOptions, type TestAgent, useService } from '../../support/service.ts';

const service = useService({ env: { A2A_WAIT_SECONDS: '20' } });

describe.each(bindings)('over %s', (binding) => {
  const clientOf = ({ token }: TestAgent, { handle }: TestAgent) =>
    createA2aClient(binding, a2aAddress(service.url, handle), token);

  async function pair(agent?: AgentOptions) {
    const [ann, bob] = [await service.agent(), await service.agent(agent)];
    return { ann, bob, client: clientOf(ann, bob) };
  }
  const now = { configuration: { returnImmediately: true } };

  test('a question is a task, and the answer its artifact', async () => {
    const { bob, client } = await pair();
    const message = toA2aMessage('When does order 1042 leave?', { metadata: { trace: 7 } });
    const { result } = await client.call('SendMessage', { message, ...now });
    const { id, contextId } = result.task;
    expect(result.task.status.state).toBe('TASK_STATE_SUBMITTED');
    expect(result.task.history).toEqual([{ ...message, contextId, taskId: id }]);

    const { body } = await service.get(bob, `/threads/${contextId}/messages`);
    expect(body.messages[0]).toMatchObject({
      content: 'When does order 1042 leave?',
      content_type: 'text',
      metadata: { a2a: { task_id: id, message_id: message.messageId } },
    });
    const answer = await service.post(bob, `/threads/${contextId}/messages`, {
      content: '**Tomorrow**',
      content_type: 'markdown',
    });
    const { result: task } = await client.call('GetTask', { id });
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(task.status.message).toBeUndefined();
    expect(task.artifacts).toEqual([
      { artifactId: answer.body.id, parts: [{ text: '**Tomorrow**', mediaType: 'text/markdown' }] },
    ]);
    expect(task.history.map(({ role }: { role: string }) => role)).toEqual(['ROLE_USER', 'ROLE_AGENT']);
    expect((await client.call('GetTask', { id, historyLength: 0 })).result.history).toBeUndefined();
  });

  test('a call waits for the answer, and for a question back', async () => {
    const { ann, bob, client } = await pair();
    const sending = client.call('SendMessage', { message: toA2aMessage('Book a flight.') });
    const id = await openTaskOf(bob);
    await service.post(bob, `/tasks/${id}/update`, { state: 'working', message: 'Looking.' });
    await service.post(bob, `/tasks/${id}/update`, { state: 'input_required', message: 'Which day?' });
    const { task } = (await sending).result;
    expect(task.status).toMatchObject({
      state: 'TASK_STATE_INPUT_REQUIRED',
      message: { role: 'ROLE_AGENT', parts: [{ text: 'Which day?', mediaType: 'text/plain' }] },
    });

    const answered = client.call('SendMessage', { message: toA2aMessage('Friday', { taskId: id }) });
    await expect.poll(async () => (await service.get(ann, `/tasks/${id}`)).body.state).toBe('working');
    await service.post(bob, `/tasks/${id}/update`, {
      state: 'completed',
      message: 'Booked.',
      data: { flight: 'XY 12' },
      artifact: true,
    });
    const { task: ended } = (await answered).result;
    expect(ended.status.state).toBe('TASK_STATE_COMPLETED');
    expect(ended.artifacts[0].parts).toEqual([
      { text: 'Booked.', mediaType: 'text/plain' },
      { data: { flight: 'XY 12' }, mediaType: 'application/json' },
    ]);
    expect(ended.history).toHaveLength(5);
    const late = await client.call('SendMessage', { message: toA2aMessage('Thanks', { taskId: id }) });
    expect([late.error.code, reasonOf(late)]).toEqual([
      binding === 'JSONRPC' ? -32_004 : 400,
      'UNSUPPORTED_OPERATION',
    ]);
  });

  async function openTaskOf(agent: TestAgent): Promise<string> {
    const list = async () => (await service.get(agent, '/tasks?state=open')).body.tasks;
    await expect.poll(list).toHaveLength(1);
    return (await list())[0].id;
  }

  test('a repeated message finds its task, and another one under its name is refused', async () => {
    const { ann, bob, client } = await pair();
    const message = toA2aMessage('Once', { parts: [{ url: 'https://files.example/a.pdf?signature=1' }] });
    const { result } = await client.call('SendMessage', { message, ...now });
    const again = { ...message, parts: [{ url: 'https://files.example/a.pdf?signature=2' }] };
    const all = await Promise.all(
      Array.from({ length: 5 }, () => client.call('SendMessage', { message: again, ...now })),
    );
    expect(new Set(all.map((each) => each.result.task.id))).toEqual(new Set([result.task.id]));
    expect((await service.get(ann, '/threads')).body.threads).toHaveLength(1);
    const other = await client.call('SendMessage', {
      message: { ...message, parts: [{ text: 'Twice' }] },
      ...now,
    });
    expect(reasonOf(other)).toBe('IDEMPOTENCY_MISMATCH');
    const carl = await service.agent();
    const elsewhere = await clientOf(ann, carl).call('SendMessage', { message, ...now });
    expect(elsewhere.result.task.id).not.toBe(result.task.id);
    await service.post(bob, `/threads/${result.task.contextId}/messages`, { content: 'Done' });
    expect((await client.call('SendMessage', { message })).result.task.status.state).toBe(
      'TASK_STATE_COMPLETED',
    );
  });

  test('a context is a thread of two, and takes no further member', async () => {
    const { ann, bob, client } = await pair();
    const first = (await client.call('SendMessage', { message: toA2aMessage('One'), ...now })).result.task;
    const { contextId } = first;
    const second = await client.call('SendMessage', { message: toA2aMessage('Two', { contextId }), ...now });
    expect(second.result.task.contextId).toBe(contextId);
    expect(second.result.task.id).not.toBe(first.id);
    const carl = await service.agent();
    const added = await service.post(ann, `/threads/${contextId}/members`, { handle: carl.handle });
    expect(added.status).toBe(400);
    const group = await service.thread(ann, bob, carl);
    const foreign = await service.thread(carl, bob);
    for (const context of [group, foreign, randomUUID()]) {
      const refused = await client.call('SendMessage', {
        message: toA2aMessage('Three', { contextId: context }),
        ...now,
      });
      expect(reasonOf(refused)).toBe('VALIDATION_ERROR');
      expect(JSON.stringify(refused.error)).toContain('message.contextId');
    }
    const wrong = toA2aMessage('Four', { contextId: group, taskId: first.id });
    expect(reasonOf(await client.call('SendMessage', { message: wrong, ...now }))).toBe('VALIDATION_ERROR');
  });

  test('messages that are sent at once in two contexts have the results of messages that are sent alone', async () => {
    const { ann, bob, client } = await pair();
    const dan = await service.agent();
    const other = clientOf(dan, bob);
    const ask = (by: typeof client, message: object) => by.call('SendMessage', { message, ...now });
    const first = toA2aMessage('First');
    const { id, contextId } = (await ask(client, first)).result.task;
    const others = { contextId: (await ask(other, toA2aMessage('First'))).result.task.contextId };
    const texts = ['One', 'Two', 'Three', 'Four', 'Five'];
    const named = toA2aMessage('Named', { contextId });
    const url = (address: string) => ({
      configuration: { ...now.configuration, taskPushNotificationConfig: { url: address } },
    });
    const [repeated, changed, foreign, unsafe, sent, thanks, elsewhere] = await Promise.all([
      ask(client, first),
      ask(client, { ...first, contextId, parts: [{ text: 'Changed' }] }),
      ask(client, toA2aMessage('Foreign', others)),
      client.call('SendMessage', {
        message: toA2aMessage('Unsafe', { contextId }),
        ...url('http://10.0.0.1/'),
      }),
      client.call('SendMessage', { message: named, ...url('https://client.example/tasks') }),
      ask(
        client,
        toA2aMessage('Thanks', { contextId, metadata: { [mailboxExtension]: { expects_reply: false } } }),
      ),
      Promise.all(texts.map((text) => ask(other, toA2aMessage(text, others)))),
      ...texts.map((text) => ask(client, toA2aMessage(text, { contextId }))),
    ]);
    expect(repeated.result.task.id).toBe(id);
    expect([changed, foreign, unsafe].map(reasonOf)).toEqual([
      'IDEMPOTENCY_MISMATCH',
      'VALIDATION_ERROR',
      'VALIDATION_ERROR',
    ]);
    const { task } = sent.result;
    expect(task).toMatchObject({ contextId, status: { state: 'TASK_STATE_SUBMITTED' } });
    expect(task.history).toEqual([{ ...named, taskId: task.id }]);
    expect((await client.call('GetTask', { id: task.id })).result).toEqual(task);
    expect(
      (await client.call('ListTaskPushNotificationConfigs', { taskId: task.id })).result.configs,
    ).toHaveLength(1);
    expect(thanks.result.task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(elsewhere.map(({ result }) => result.task.contextId)).toEqual(texts.map(() => others.contextId));
    const contents = async (agent: TestAgent, thread: string) =>
      (await service.get(agent, `/threads/${thread}/messages`)).body.messages.map(
        ({ content }: { content: string }) => content,
      );
    expect((await contents(ann, contextId)).toSorted()).toEqual(
      ['First', 'Named', 'Thanks', ...texts].toSorted(),
    );
    expect((await contents(dan, others.contextId)).toSorted()).toEqual(['First', ...texts].toSorted());
    const { totalSize } = (await client.call('ListTasks', {})).result;
    expect(totalSize).toBe(3 + texts.length);
  });

  test('one messageId that is sent at once in two contexts is one message, and others are not affected', async () => {
    const { ann, bob, client } = await pair();
    const open = async () =>
      (await client.call('SendMessage', { message: toA2aMessage('First'), ...now })).result.task.contextId;
    const contexts = [await open(), await open()];
    const { messageId } = toA2aMessage('');
    const sent = await Promise.all(
      contexts.flatMap((contextId) => [
        client.call('SendMessage', { message: toA2aMessage('Twice', { contextId, messageId }), ...now }),
        client.call('SendMessage', { message: toA2aMessage('Other', { contextId }), ...now }),
      ]),
    );
    const refused = sent.filter(({ error }) => error);
    expect(refused.map(reasonOf)).toEqual(['IDEMPOTENCY_MISMATCH']);
    const counts = await Promise.all(
      contexts.map(async (id) => (await service.get(ann, `/threads/${id}/messages`)).body.messages.length),
    );
    expect(counts.toSorted((one, other) => one - other)).toEqual([2, 3]);
    expect((await service.get(bob, '/tasks')).body.tasks).toHaveLength(5);
  });

  test('a message that expects no reply is a completed task', async () => {
    const { bob, client } = await pair();
    const metadata = { 'urn:agent-messaging-service:a2a:mailbox:1': { expects_reply: false } };
    const { result } = await client.call('SendMessage', { message: toA2aMessage('Thanks', { metadata }) });
    expect(result.task.status.state).toBe('TASK_STATE_COMPLETED');
    const token = await service.token(bob.handle, { scopes: ['conversations:read'] });
    expect((await service.get({ token }, '/waits')).body.waits).toEqual([]);
  });

  test('tasks are listed, filtered, paged and canceled', async () => {
    const { bob, client } = await pair();
    const ids: string[] = [];
    for (const text of ['One', 'Two', 'Three'])
      ids.unshift((await client.call('SendMessage', { message: toA2aMessage(text), ...now })).result.task.id);
    const list = async (params: Record<string, unknown> = {}) =>
      (await client.call('ListTasks', params)).result;
    const first = await list({ pageSize: 2 });
    expect(first).toMatchObject({ pageSize: 2, totalSize: 3 });
    const rest = await list({ pageSize: 2, pageToken: first.nextPageToken });
    expect([...first.tasks, ...rest.tasks].map(({ id }: { id: string }) => id)).toEqual(ids);
    expect(rest.nextPageToken).toBe('');

    const [id = ''] = ids;
    expect((await client.call('CancelTask', { id })).result.status.state).toBe('TASK_STATE_CANCELED');
    expect((await client.call('CancelTask', { id })).result.status.state).toBe('TASK_STATE_CANCELED');
    const canceled = await list({ status: 'TASK_STATE_CANCELED', historyLength: 5 });
    expect(canceled.tasks).toHaveLength(1);
    expect(canceled.tasks[0].history).toHaveLength(1);
    const [, answered = ''] = ids;
    const { contextId } = (await client.call('GetTask', { id: answered })).result;
    await service.post(bob, `/threads/${contextId}/messages`, { content: 'Yes' });
    const withAnswer = await list({ contextId, includeArtifacts: true });
    expect(withAnswer.tasks[0].artifacts).toHaveLength(1);
    const late = await client.call('CancelTask', { id: answered });
    expect([late.error.code, reasonOf(late)]).toEqual([
      binding === 'JSONRPC' ? -32_002 : 400,
      'TASK_NOT_CANCELABLE',
    ]);
    expect(
      (await list({ statusTimestampAfter: new Date(Date.now() + 60_000).toISOString() })).totalSize,
    ).toBe(0);
  });

  test('files arrive as attachments, and leave as addresses', async () => {
    const { bob, client } = await pair();
    const parts = [
      { text: 'See' },
      {
        raw: Buffer.from('order,day\n1042,Friday\n').toString('base64'),
        filename: 'orders.csv',
        mediaType: 'text/csv',
      },
      { data: { order: 1042 } },
    ];
    const message = toA2aMessage('', { parts });
    const { result } = await client.call('SendMessage', { message, ...now });
    const { contextId, id, history } = result.task;
    const { body } = await service.get(bob, `/threads/${contextId}/messages`);
    expect(body.messages[0].content).toBe('See\n\n```json\n{\n  "order": 1042\n}\n```');
    expect(body.messages[0].attachments).toMatchObject([
      { filename: 'orders.csv', content_type: 'text/csv' },
    ]);
    expect(history[0].parts).toMatchObject([
      { text: 'See' },
      { filename: 'orders.csv' },
      { data: { order: 1042 } },
    ]);
    const address = new URL(history[0].parts[1].url);
    const open = () => fetch(`${service.url}${address.pathname}`, { redirect: 'manual' });
    await expect.poll(async () => (await open()).status).toBe(302);
    const moved = new URL((await open()).headers.get('location') ?? '');
    expect(await (await fetch(`${service.url}${moved.pathname}`)).text()).toBe('order,day\n1042,Friday\n');
    expect((await client.call('SendMessage', { message, ...now })).result.task.id).toBe(id);
    expect((await fetch(`${service.url}${address.pathname}x`)).status).toBe(404);
    // As after a withdrawal, until a worker removes the file.
    const withdraw = 'update attachments set message_id = null, expires_at = 0 where id = $1';
    await service.core.database.query({ text: withdraw }, [body.messages[0].attachments[0].id]);
    expect((await open()).status).toBe(404);
  });

  test('the policy of the agent applies, and a refused message stores nothing', async () => {
    const { ann, client } = await pair({ inbound_policy: 'contacts_only' });
    const refused = await client.call('SendMessage', { message: toA2aMessage('Hello'), ...now });
    expect([refused.status, reasonOf(refused)]).toEqual([403, 'NOT_CONTACTS']);
    expect((await service.get(ann, '/threads')).body.threads).toEqual([]);
    expect((await client.call('ListTasks', {})).result.totalSize).toBe(0);
  });
});
