import { expect, onTestFinished, test } from 'vitest';
import { callToolRaw } from '../../../clients/mcp/client.ts';
import { listenStateless, postStateless } from '../../../clients/mcp/stateless-request.ts';
import { useMcpPair } from '../instance.ts';

const [first, second] = useMcpPair({ receipts: true }, { heartbeat_ms: 50 });

const subscriptionId = 'io.modelcontextprotocol/subscriptionId';

async function listen(token: string, uris: readonly string[], at = first) {
  const stream = await listenStateless(at.url, token, { resourceSubscriptions: uris });
  onTestFinished(() => stream.close());
  return {
    ...stream,
    async messages(count: number): Promise<{ method?: string; params?: { uri?: string } }[]> {
      return (await stream.events(count)).map(({ data }) => JSON.parse(data));
    },
  };
}

async function createThread(token: string, with_handle: string): Promise<string> {
  const { value } = await callToolRaw(first.url, token, 'create_thread', { with_handle });
  return String(value['id']);
}

test('a stream begins with what it will report, and reports changes that another process makes', async () => {
  const token = await first.token('reader.listens');
  const writer = await first.token('writer.listens');
  const thread_id = await createThread(writer, 'reader.listens');
  const uri = `service://threads/${thread_id}`;
  const stream = await listen(token, [uri, 'service://threads', 'service://nowhere'], second);
  await callToolRaw(first.url, writer, 'send_message', { thread_id, content: 'Hello.' });
  expect(await stream.messages(3)).toEqual([
    {
      jsonrpc: '2.0',
      method: 'notifications/subscriptions/acknowledged',
      params: {
        notifications: { resourceSubscriptions: [uri, 'service://threads'] },
        _meta: { [subscriptionId]: 'listen' },
      },
    },
    ...[uri, 'service://threads'].map((changed) => ({
      jsonrpc: '2.0',
      method: 'notifications/resources/updated',
      params: { uri: changed, _meta: { [subscriptionId]: 'listen' } },
    })),
  ]);
  await expect.poll(() => stream.raw()).toContain(':\n');
});

test('a stream begins at once, also when its first message is larger than its buffer', async () => {
  const token = await first.token('reader.large');
  const uris = Array.from({ length: 40 }, (_, n) => `service://threads/${n}`.padEnd(1_900, 'x'));
  const stream = await listen(token, uris);
  expect(await stream.messages(1)).toMatchObject([
    { params: { notifications: { resourceSubscriptions: uris } } },
  ]);
});

test('two agents that listen to the same names never learn of each other', async () => {
  const [ada, bob, writer] = await Promise.all(
    ['ada.alone', 'bob.alone', 'eve.alone'].map((handle) => first.token(handle)),
  );
  const ofAda = await createThread(writer ?? '', 'ada.alone');
  const names = ['service://threads', 'service://contacts', `service://threads/${ofAda}`];
  const [heardByAda, heardByBob] = await Promise.all([listen(ada ?? '', names), listen(bob ?? '', names)]);
  const say = (thread_id: string) =>
    callToolRaw(second.url, writer ?? '', 'send_message', { thread_id, content: 'Hello.' });
  await say(ofAda);
  expect(await heardByAda.messages(3)).toMatchObject([
    {},
    { params: { uri: 'service://threads' } },
    { params: { uri: `service://threads/${ofAda}` } },
  ]);
  // His own change is the first one that he receives, although hers came before it.
  await createThread(writer ?? '', 'bob.alone');
  const own = await heardByBob.messages(2);
  expect(own.slice(1)).toMatchObject([{ params: { uri: 'service://threads' } }]);
  expect(heardByBob.raw()).not.toContain(`"uri":"service://threads/${ofAda}"`);
});

test('a message counts as delivered only when its content was', async () => {
  const token = await first.token('reader.unread');
  const writer = await first.token('writer.unread');
  const thread_id = await createThread(writer, 'reader.unread');
  const stream = await listen(token, ['service://threads']);
  const { value } = await callToolRaw(first.url, writer, 'whoami');
  await callToolRaw(first.url, writer, 'send_message', { thread_id, content: 'Hello.' });
  await stream.messages(2);
  const wait = (of: string, args: object) => callToolRaw(first.url, of, 'wait_for_events', args);
  await wait(token, { wait_seconds: 0 });
  const { value: seen } = await wait(writer, { cursor: value['cursor'], types: ['message.delivered'] });
  expect(seen['events']).toHaveLength(1);
  const count = await first.query(
    `select count(*)::int as n from events e where e.type = 'message.delivered' and e.thread_id = $1`,
    [thread_id],
  );
  expect(count).toEqual([{ n: 1 }]);
});

test('a stream that has nothing to report ends at once, and one that is ended says so', async () => {
  const token = await first.token('reader.ends');
  const idle = await listen(token, ['service://nowhere']);
  await idle.ended;
  expect(await idle.messages(2)).toMatchObject([
    { method: 'notifications/subscriptions/acknowledged', params: { notifications: {} } },
    { id: 'listen', result: { resultType: 'complete', _meta: { [subscriptionId]: 'listen' } } },
  ]);
  const open = await listen(token, ['service://threads']);
  await open.messages(1);
  first.revoke('reader.ends');
  await open.ended;
  expect((await open.messages(2))[1]).toMatchObject({ id: 'listen', result: { resultType: 'complete' } });
});

test.each([
  { name: 'no notifications', params: {}, status: 400, code: -32_602 },
  {
    name: 'no list',
    params: { notifications: { resourceSubscriptions: 'service://threads' } },
    status: 400,
    code: -32_602,
  },
  {
    name: 'too many resources',
    params: {
      notifications: {
        resourceSubscriptions: Array.from({ length: 501 }, (_, n) => `service://threads/${n}`),
      },
    },
    status: 400,
    code: -32_602,
  },
  {
    name: 'no method header',
    params: { notifications: {} },
    headers: { 'Mcp-Method': '' },
    status: 400,
    code: -32_020,
  },
  {
    name: 'no version header',
    params: { notifications: {} },
    headers: { 'MCP-Protocol-Version': '' },
    status: 400,
    code: -32_020,
  },
  {
    name: 'another method',
    params: { notifications: {} },
    headers: { 'Mcp-Method': 'tools/list' },
    status: 400,
    code: -32_020,
  },
  {
    name: 'another revision',
    params: { notifications: {} },
    meta: { 'io.modelcontextprotocol/protocolVersion': '2027-01-01' },
    headers: { 'MCP-Protocol-Version': '2027-01-01' },
    status: 400,
    code: -32_022,
  },
  {
    name: 'a client without streams',
    params: { notifications: {} },
    headers: { Accept: 'application/json' },
    status: 406,
    code: -32_000,
  },
])('listening with $name is refused', async ({ params, headers, meta, status, code }) => {
  const token = await first.token('reader.refused');
  const answer = await postStateless(first.url, token, {
    method: 'subscriptions/listen',
    params,
    ...(headers && { headers }),
    ...(meta && { meta }),
  });
  expect(answer).toMatchObject({ status, json: { jsonrpc: '2.0', id: 1, error: { code } } });
});

test('listening needs the scopes of the resources', async () => {
  const token = await first.token('reader.scopes', { scopes: ['contacts:read'] });
  const answer = await postStateless(first.url, token, {
    method: 'subscriptions/listen',
    params: { notifications: { resourceSubscriptions: ['service://contacts', 'service://threads'] } },
  });
  expect(answer.status).toBe(403);
  expect(answer.headers.get('www-authenticate')).toContain('insufficient_scope');
  const stream = await listen(token, ['service://contacts']);
  expect(await stream.messages(1)).toMatchObject([{ params: { notifications: {} } }]);
});
