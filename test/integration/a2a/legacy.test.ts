import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { type TestAgent, useService } from '../../support/service.ts';

const service = useService({ env: { A2A_WAIT_SECONDS: '20' } });

const addressOf = ({ handle }: TestAgent) => `${service.url}/a2a/v0.3/${handle.replace('.', '/')}`;

async function post(
  client: TestAgent,
  agent: TestAgent,
  method: string,
  params: object,
  headers: Record<string, string> = {},
) {
  return fetch(addressOf(agent), {
    method: 'POST',
    headers: { Authorization: `Bearer ${client.token}`, 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 'r1', method, params }),
  });
}

const call = async (...request: Parameters<typeof post>) => (await post(...request)).json();

const toMessage = (text: string, fields: object = {}) => ({
  kind: 'message',
  messageId: randomUUID(),
  role: 'user',
  parts: [{ kind: 'text', text }],
  ...fields,
});

test('the card of 0.3 names the address of 0.3', async () => {
  const agent = await service.agent();
  for (const name of ['agent-card', 'agent']) {
    const response = await fetch(`${addressOf(agent)}/.well-known/${name}.json`);
    expect(await response.json()).toMatchObject({
      protocolVersion: '0.3.0',
      url: `http://localhost:3000/a2a/v0.3/${agent.handle.replace('.', '/')}`,
      preferredTransport: 'JSONRPC',
      capabilities: { streaming: true },
      supportsAuthenticatedExtendedCard: true,
      securitySchemes: { client_credentials: { type: 'oauth2' } },
    });
  }
});

test('a client of 0.3 asks, waits, reads and cancels', async () => {
  const [ann, bob] = [await service.agent(), await service.agent()];
  const parts = [
    { kind: 'text', text: 'See' },
    { kind: 'data', data: { order: 1042 } },
    {
      kind: 'file',
      file: { bytes: Buffer.from('a,b\n').toString('base64'), name: 'a.csv', mimeType: 'text/csv' },
    },
  ];
  const sending = call(ann, bob, 'message/send', { message: toMessage('', { parts }) });
  const list = async () => (await service.get(bob, '/tasks?state=open')).body.tasks;
  await expect.poll(list).toHaveLength(1);
  const [{ id, thread_id }] = await list();
  await service.post(bob, `/threads/${thread_id}/messages`, { content: 'Seen.' });
  const { result } = await sending;
  expect(result).toMatchObject({
    kind: 'task',
    id,
    contextId: thread_id,
    status: { state: 'completed' },
    artifacts: [{ parts: [{ kind: 'text', text: 'Seen.' }] }],
    history: [{ kind: 'message', role: 'user' }, { role: 'agent' }],
  });
  expect(result.history[0].parts).toMatchObject([
    { kind: 'text', text: 'See' },
    { kind: 'data', data: { order: 1042 } },
    { kind: 'file', file: { name: 'a.csv', mimeType: 'text/csv' } },
  ]);
  expect((await call(ann, bob, 'tasks/get', { id, historyLength: 1 })).result.history).toHaveLength(1);
  const ended = await call(ann, bob, 'tasks/cancel', { id });
  expect(ended.error.code).toBe(-32_002);
  const next = await call(ann, bob, 'message/send', {
    message: toMessage('Again'),
    configuration: { blocking: false },
  });
  expect(next.result.status.state).toBe('submitted');
  expect((await call(ann, bob, 'tasks/cancel', { id: next.result.id })).result.status.state).toBe('canceled');
});

test('a stream of 0.3 ends with a final event', async () => {
  const [ann, bob] = [await service.agent(), await service.agent()];
  const response = await post(ann, bob, 'message/stream', { message: toMessage('Book a flight.') });
  const list = async () => (await service.get(bob, '/tasks?state=open')).body.tasks;
  await expect.poll(list).toHaveLength(1);
  const [{ id }] = await list();
  await service.post(bob, `/tasks/${id}/update`, { state: 'working', message: 'Looking.' });
  await service.post(bob, `/tasks/${id}/update`, { state: 'completed', message: 'Booked.', artifact: true });
  const events = [...(await response.text()).matchAll(/^data: (.*)$/gm)].map(
    ([, data = '']) => JSON.parse(data).result,
  );
  expect(events).toMatchObject([
    { kind: 'task', id, status: { state: 'submitted' } },
    {
      kind: 'status-update',
      status: { state: 'working', message: { parts: [{ text: 'Looking.' }] } },
      final: false,
    },
    { kind: 'artifact-update', artifact: { parts: [{ kind: 'text', text: 'Booked.' }] } },
    { kind: 'status-update', status: { state: 'completed' }, final: true },
  ]);
});

test('an address serves its version only, and names the field that is wrong', async () => {
  const [ann, bob] = [await service.agent(), await service.agent()];
  const version = await call(ann, bob, 'tasks/get', { id: 'x' }, { 'A2A-Version': '1.0' });
  expect(version.error.code).toBe(-32_009);
  expect((await call(ann, bob, 'GetTask', { id: 'x' })).error.code).toBe(-32_601);
  expect((await call(ann, bob, 'tasks/get', { id: 'x' })).error.code).toBe(-32_001);
  const kind = await call(ann, bob, 'message/send', {
    message: toMessage('x', { parts: [{ kind: 'sound' }] }),
  });
  expect(kind.error.code).toBe(-32_602);
  expect(JSON.stringify(kind.error.data)).toContain('message.parts[0]');
});

test('errors use the words of 0.3', async () => {
  const [ann, bob] = [await service.agent(), await service.agent()];
  const parts = [{ kind: 'file', file: { bytes: '!' } }, { text: 'no kind' }];
  const { error } = await call(ann, bob, 'message/send', {
    message: toMessage('', { role: 'agent', parts }),
  });
  expect(error.message).toBe(
    'message.role: must be user; message.parts[0].file.bytes: must be base64; message.parts[1]: must have the kind text, file or data, and its content',
  );
  const bytes = Array.from({ length: 6 }, () => ({ kind: 'file', file: { bytes: 'AAAA' } }));
  const many = await call(ann, bob, 'message/send', { message: toMessage('x', { parts: bytes }) });
  expect(many.error.message).toContain(
    'must have at most 5 file parts with bytes; send further files as file parts with a uri',
  );
  const long = await call(ann, bob, 'message/send', { message: toMessage('y'.repeat(40_000)) });
  expect(long.error.message).toContain('send longer text as a file part');
  const withoutId = await call(ann, bob, 'tasks/pushNotificationConfig/delete', { id: 'tsk_x' });
  expect(withoutId.error.message).toContain('id: ');
  const params = { message: toMessage('x'), configuration: { blocking: false } };
  const { result } = await call(ann, bob, 'message/send', params);
  await call(ann, bob, 'tasks/cancel', { id: result.id });
  const ended = await call(ann, bob, 'tasks/resubscribe', { id: result.id });
  expect(ended.error.message).toContain('Use tasks/get instead.');
});

test('a push notification config without an ID is the one of its task', async () => {
  const [ann, bob] = [await service.agent(), await service.agent()];
  const toConfig = (url: string) => ({ url: `https://example.com/${url}` });
  const params = {
    message: toMessage('x'),
    configuration: { blocking: false, pushNotificationConfig: toConfig('first') },
  };
  const { id } = (await call(ann, bob, 'message/send', params)).result;
  const get = async () => (await call(ann, bob, 'tasks/pushNotificationConfig/get', { id })).result;
  expect(await get()).toEqual({ taskId: id, pushNotificationConfig: { id, ...toConfig('first') } });
  const set = { taskId: id, pushNotificationConfig: toConfig('second') };
  await call(ann, bob, 'tasks/pushNotificationConfig/set', set);
  expect(await get()).toEqual({ taskId: id, pushNotificationConfig: { id, ...toConfig('second') } });
});

test('the response names the extension that is active', async () => {
  const [ann, bob] = [await service.agent(), await service.agent()];
  const mailbox = 'urn:agent-messaging-service:a2a:mailbox:1';
  const params = { message: toMessage('x'), configuration: { blocking: false } };
  const named = await post(ann, bob, 'message/send', params, { 'X-A2A-Extensions': `urn:other, ${mailbox}` });
  expect(named.headers.get('X-A2A-Extensions')).toBe(mailbox);
  const { id } = (await named.json()).result;
  const tasks = `${addressOf(bob).replace('/v0.3', '')}/tasks`;
  const read = (path: string, headers: object) =>
    fetch(`${tasks}${path}`, {
      headers: { Authorization: `Bearer ${ann.token}`, 'A2A-Version': '1.0', ...headers },
      signal: AbortSignal.timeout(5_000),
    });
  for (const path of [`/${id}`, `/${id}:subscribe`, '/tsk_none']) {
    const response = await read(path, { 'A2A-Extensions': mailbox });
    expect(response.headers.get('A2A-Extensions')).toBe(mailbox);
    await response.body?.cancel();
  }
  expect((await read(`/${id}`, { 'A2A-Extensions': 'urn:other' })).headers.get('A2A-Extensions')).toBeNull();
});
