import { describe, expect, test } from 'vitest';
import { minIdAt } from '../../../packages/core/src/domain/ids.ts';
import { a2aAddress, bindings, createA2aClient, reasonOf, toA2aMessage } from '../../clients/a2a.ts';
import { type AgentOptions, startService, type TestAgent, useService } from '../../support/service.ts';

const service = useService({ env: { A2A_WAIT_SECONDS: '20' }, worker: false });
const now = { configuration: { returnImmediately: true } };
const mailbox = 'urn:agent-messaging-service:a2a:mailbox:1';

describe.each(bindings)('over %s', (binding) => {
  const clientOf = ({ token }: TestAgent, { handle }: TestAgent, url = service.url) =>
    createA2aClient(binding, a2aAddress(url, handle), token);

  async function pair(agent?: AgentOptions) {
    const [ann, bob] = [await service.agent(), await service.agent(agent)];
    return { ann, bob, client: clientOf(ann, bob) };
  }

  const nest = (depth: number): unknown => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`);
  const file = (text: string) => ({ raw: Buffer.from(text).toString('base64'), filename: 'a.txt' });

  test('no input blocks the process or fails in it', async () => {
    const { client } = await pair();
    const cases = [
      { parts: [{ raw: `${'='.repeat(400_000)}x` }] },
      { parts: [{ raw: 'A' }] },
      { metadata: { deep: nest(2_000) } },
      { parts: [{ data: nest(2_000) }] },
      { role: { toString: null } },
      { role: nest(1_000) },
    ];
    for (const fields of cases) {
      const refused = await client.call('SendMessage', { message: toA2aMessage('x', fields), ...now });
      expect(reasonOf(refused)).toBe('VALIDATION_ERROR');
    }
    const unknown = await client.call('GetTask', { id: 'x'.repeat(500) });
    expect(reasonOf(unknown)).toBe('TASK_NOT_FOUND');
  });

  test('sends of both sides to the tasks of one thread take their locks in one order', async () => {
    const { ann, bob, client } = await pair();
    const other = clientOf(bob, ann);
    const open = async (sender: typeof client, fields: object) =>
      (await sender.call('SendMessage', { message: toA2aMessage('x', fields), ...now })).result.task;
    const first = await open(client, {});
    const { contextId } = first;
    const mine = [first.id, (await open(client, { contextId })).id];
    const theirs = [(await open(other, { contextId })).id, (await open(other, { contextId })).id];
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, index) => {
        const [sender, ids] = index % 2 === 0 ? [client, mine] : [other, theirs];
        const [taskId, referred] = index % 4 < 2 ? ids : ids.toReversed();
        const message = toA2aMessage('y', { taskId, referenceTaskIds: [referred] });
        return sender.call('SendMessage', { message, ...now });
      }),
    );
    expect(answers.map(reasonOf)).toEqual(answers.map(() => undefined));
  });

  test('a refused message stores no file, and a corrected one can have its name', async () => {
    const { ann, client } = await pair();
    const strict = clientOf(ann, await service.agent({ inbound_policy: 'contacts_only' }));
    const message = toA2aMessage('', { parts: [file('one')] });
    expect(reasonOf(await strict.call('SendMessage', { message, ...now }))).toBe('NOT_CONTACTS');
    const gone = { ...message, taskId: 'tsk_none' };
    expect(reasonOf(await client.call('SendMessage', { message: gone, ...now }))).toBe('TASK_NOT_FOUND');
    const count = async () =>
      (
        await service.sql<{ n: number }>(
          'select count(*)::int as n from attachments where uploader_id = $1',
          [ann.id],
        )
      )[0]?.n;
    expect(await count()).toBe(0);
    const corrected = { ...message, parts: [file('two')] };
    const { result } = await client.call('SendMessage', { message: corrected, ...now });
    await service.sql('delete from idempotency_keys');
    const again = await client.call('SendMessage', { message: corrected, ...now });
    expect([again.error, again.result?.task.id]).toEqual([undefined, result.task.id]);
    expect(await count()).toBe(1);
  });

  test('a token that can only write cancels a task and learns its state only', async () => {
    const { ann, client } = await pair();
    const { id } = (await client.call('SendMessage', { message: toA2aMessage('Mine'), ...now })).result.task;
    const token = await service.token(ann.handle, { scopes: ['threads:write'] });
    const { result } = await client.call('CancelTask', { id }, { token });
    expect(result.status.state).toBe('TASK_STATE_CANCELED');
    expect(result.history).toBeUndefined();
    expect((await client.call('CancelTask', { id })).result.history).toHaveLength(1);
  });

  test('a thanks in an open task neither waits nor moves it', async () => {
    const { bob, client } = await pair();
    const { id } = (await client.call('SendMessage', { message: toA2aMessage('Book'), ...now })).result.task;
    await service.post(bob, `/tasks/${id}/update`, { state: 'input_required', message: 'Which day?' });
    const message = toA2aMessage('Thanks', { taskId: id, metadata: { [mailbox]: { expects_reply: false } } });
    const { result } = await client.call('SendMessage', { message });
    expect(result.task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(result.task.history).toHaveLength(3);
  });

  test('a task of a group is none of A2A, and the group stays open', async () => {
    const { ann, bob, client } = await pair();
    const carl = await service.agent();
    const thread_id = await service.thread(ann, bob, carl);
    const asking = { thread_id, with_handle: bob.handle, content: 'When?' };
    const { id } = (await service.post(ann, '/tasks', asking)).body;
    expect(reasonOf(await client.call('GetTask', { id }))).toBe('TASK_NOT_FOUND');
    expect((await client.call('ListTasks', {})).result.totalSize).toBe(0);
    const message = toA2aMessage('More', { taskId: id });
    expect(reasonOf(await client.call('SendMessage', { message, ...now }))).toBe('TASK_NOT_FOUND');
    const added = await service.post(ann, `/threads/${thread_id}/members`, {
      handle: (await service.agent()).handle,
    });
    expect(added.status).toBe(201);
  });

  test('a task continues after its first message was removed, and its received form is forgotten', async () => {
    const { ann, bob, client } = await pair();
    const { id, contextId } = (await client.call('SendMessage', { message: toA2aMessage('Old'), ...now }))
      .result.task;
    const report = { state: 'working', data: { day: 'Friday' } };
    expect((await service.post(bob, `/tasks/${id}/update`, report)).status).toBe(200);
    await service.sql('delete from messages where thread_id = $1', [contextId]);
    const sent = await client.call('SendMessage', { message: toA2aMessage('New', { taskId: id }), ...now });
    expect(sent.result.task.history).toHaveLength(1);
    expect((await service.post(bob, `/threads/${contextId}/messages`, { content: 'Yes' })).status).toBe(201);
    expect((await client.call('GetTask', { id })).result.status.state).toBe('TASK_STATE_COMPLETED');
    await service.core.db.a2aMessages.clearContent(minIdAt('message', Date.now() + 1_000), 1_000);
    const rows = await service.sql(
      `select 1 from a2a_messages where client_id = $1 and wire is not null
       union all select 1 from task_messages where task_id = $2 and data is not null`,
      [ann.id, id],
    );
    expect(rows).toEqual([]);
    expect((await client.call('GetTask', { id })).result.history[0].parts).toEqual([
      { text: 'New', mediaType: 'text/plain' },
    ]);
  });

  test('delivery is that of the last message of the client', async () => {
    const { bob, client } = await pair();
    const options = { headers: { 'A2A-Extensions': mailbox } };
    const { id, contextId } = (await client.call('SendMessage', { message: toA2aMessage('One'), ...now }))
      .result.task;
    await service.post(bob, `/threads/${contextId}/read`, { up_to_sequence: 1 });
    const delivery = async () =>
      (await client.call('GetTask', { id }, options)).result.metadata[mailbox].delivery;
    expect(await delivery()).toBe('read');
    await client.call('SendMessage', { message: toA2aMessage('Two', { taskId: id }), ...now });
    expect(await delivery()).toBe('stored');
  });

  test('refused calls have a limit, and messages count for their thread', async () => {
    const settings = { env: service.env, release: () => Promise.resolve() };
    const env = { RATE_LIMITS: 'default=5/60,send_message=2/60', PORT: '0' };
    const limited = await startService({ settings, worker: false, env });
    try {
      const [ann, bob, carl] = [await limited.agent(), await limited.agent(), await limited.agent()];
      const bad = () => clientOf(carl, bob, limited.url).call('SendMessage', {});
      const reasons = [];
      for (let index = 0; index < 8; index += 1) reasons.push(reasonOf(await bad()));
      expect(reasons.slice(0, 5)).toEqual(Array.from({ length: 5 }, () => 'VALIDATION_ERROR'));
      expect(reasons.slice(5)).toEqual(['RATE_LIMITED', 'RATE_LIMITED', 'RATE_LIMITED']);

      const client = clientOf(ann, bob, limited.url);
      const open = async (fields?: object) =>
        (await client.call('SendMessage', { message: toA2aMessage('x', fields), ...now })).result.task;
      const first = await open();
      const second = await open({ contextId: first.contextId });
      const more = [];
      for (const taskId of [first.id, second.id, first.id])
        more.push(
          reasonOf(await client.call('SendMessage', { message: toA2aMessage('y', { taskId }), ...now })),
        );
      expect(more).toEqual([undefined, undefined, 'RATE_LIMITED']);
    } finally {
      await limited.stop();
    }
  });
});

test('an error of JSON-RPC has the id of its request, and wrong params are named', async () => {
  const [ann, bob] = [await service.agent(), await service.agent()];
  const post = async (body: object, version: string) => {
    const headers = {
      Authorization: `Bearer ${ann.token}`,
      'A2A-Version': version,
      'Content-Type': 'application/json',
    };
    const response = await fetch(a2aAddress(service.url, bob.handle), {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    return response.json();
  };
  const request = { jsonrpc: '2.0', id: 'r7', method: 'ListTasks', params: null };
  expect(await post(request, '9')).toMatchObject({ id: 'r7', error: { code: -32_009 } });
  expect(await post({ ...request, params: [] }, '1.0')).toMatchObject({ id: 'r7', error: { code: -32_602 } });
  expect(await post(request, '1.0')).toMatchObject({ id: 'r7', result: { totalSize: 0 } });
});

test('an agent can have 64 waiting calls, and a further one stores nothing', async () => {
  const [ann, bob] = [await service.agent(), await service.agent()];
  const client = createA2aClient('JSONRPC', a2aAddress(service.url, bob.handle), ann.token);
  const open = async () => (await service.get(bob, '/tasks?state=open&limit=100')).body.tasks;
  const calls = Array.from({ length: 64 }, () =>
    client.call('SendMessage', { message: toA2aMessage('Wait') }),
  );
  await expect.poll(open).toHaveLength(64);
  const message = toA2aMessage('One more');
  const refused = await client.call('SendMessage', { message });
  expect([refused.status, reasonOf(refused), refused.headers.get('retry-after')]).toEqual([
    429,
    'RATE_LIMITED',
    '1',
  ]);
  expect(await open()).toHaveLength(64);
  expect((await client.call('SendMessage', { message, ...now })).status).toBe(200);
  const ids = (await open()).map(({ id }: { id: string }) => id);
  expect(ids).toHaveLength(65);
  await Promise.all(ids.map((id: string) => client.call('CancelTask', { id })));
  const answers = [...(await Promise.all(calls)), await client.call('SendMessage', { message })];
  expect(new Set(answers.map(({ result }) => result.task.status.state))).toEqual(
    new Set(['TASK_STATE_CANCELED']),
  );
});
