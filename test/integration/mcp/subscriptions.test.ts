import { CompleteResultSchema, ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { expect, test } from 'vitest';
import { callToolRaw, postRawMessage, readRpcResult } from '../../clients/mcp/client.ts';
import { type McpInstance, startMcpInstance, useMcpPair } from './instance.ts';
import { openElicitingSession } from '../../clients/mcp/raw-elicitation.ts';
import { openSseStream } from '../../clients/sse.ts';
import { stopAfterTest } from '../../support/use.ts';

const [first, second, database] = useMcpPair();

async function scene(owner: string) {
  const reader = await first.token(`${owner}.reader`);
  const writer = await first.token(`${owner}.writer`);
  const { value } = await callToolRaw(first.url, writer, 'create_thread', {
    with_handle: `${owner}.reader`,
    subject: `About ${owner}`,
  });
  const thread_id = String(value['id']);
  const session = await openElicitingSession(first.url, reader);
  const headers = { 'Mcp-Session-Id': session };
  const ask = async (method: string, params: object, at = first) =>
    readRpcResult(await postRawMessage(at.url, reader, { jsonrpc: '2.0', id: 1, method, params }, headers));
  async function listen(at: McpInstance, resume?: string) {
    const stream = stopAfterTest(
      await openSseStream(`${at.url}/mcp`, {
        ...headers,
        Authorization: `Bearer ${reader}`,
        Accept: 'text/event-stream',
        ...(resume !== undefined && { 'Last-Event-ID': resume }),
      }),
    );
    return async (count: number) =>
      (await stream.events(count)).map(({ id, data }) => ({ id, ...JSON.parse(data) }));
  }
  const send = (content: string) => callToolRaw(first.url, writer, 'send_message', { thread_id, content });
  return { reader, writer, thread_id, uri: `service://threads/${thread_id}`, ask, listen, send };
}

const updated = (uri: string) => {
  const method = 'notifications/resources/updated';
  ResourceUpdatedNotificationSchema.parse({ method, params: { uri } });
  return { method, params: { uri } };
};

test('what is subscribed at one process is told on the stream of another, each resource once, until it is unsubscribed', async () => {
  const { uri, ask, listen, send } = await scene('across');
  const events = await listen(second);
  expect(await ask('resources/subscribe', { uri: uri.replace('_', '%5F') })).toMatchObject({ result: {} });
  await ask('resources/subscribe', { uri });
  await ask('resources/subscribe', { uri: 'service://threads' });
  await send('one');
  const come = await events(3);
  expect(come).toMatchObject([
    updated(uri),
    updated('service://threads'),
    { method: 'notifications/service/message_created' },
  ]);
  // Without an id of its own it is never what a stream is resumed behind.
  expect(come.map(({ id }) => id === '')).toEqual([true, true, false]);

  expect(await ask('resources/unsubscribe', { uri }, second)).toMatchObject({ result: {} });
  await send('two');
  expect((await events(5)).slice(3)).toMatchObject([
    updated('service://threads'),
    { params: { content: 'two' } },
  ]);
});

test('the notification has the URI as the client subscribed to it last, and each spelling ends the subscription', async () => {
  const { uri, ask, listen, send } = await scene('spelling');
  const [encoded, other] = [uri.replace('_', '%5F'), uri.replace('thd', '%74hd')];
  const events = await listen(second);
  await ask('resources/subscribe', { uri });
  await ask('resources/subscribe', { uri: encoded });
  await send('one');
  expect(await events(2)).toMatchObject([updated(encoded), { params: { content: 'one' } }]);
  expect(await ask('resources/unsubscribe', { uri: other })).toMatchObject({ result: {} });
  await send('two');
  expect((await events(3)).slice(2)).toMatchObject([{ params: { content: 'two' } }]);
});

test('subscriptions outlive every process, and missed updates are sent when the stream resumes', async () => {
  const { uri, ask, listen, send } = await scene('outlive');
  const leaving = await startMcpInstance(database.url);
  await ask('resources/subscribe', { uri }, leaving);
  const before = await listen(leaving);
  await send('before');
  const [, seen] = await before(2);
  await leaving.close();
  await send('meanwhile');
  const starting = stopAfterTest(await startMcpInstance(database.url));
  const after = await listen(starting, seen?.id);
  expect(await after(2)).toMatchObject([updated(uri), { params: { content: 'meanwhile' } }]);
});

test('only what can be read can be subscribed, by a session, and so many', async () => {
  const { uri, ask, reader } = await scene('refused');
  const other = await scene('refusedother');
  for (const unknown of ['service://nothing', 'service://threads/thd_none', other.uri])
    expect(await ask('resources/subscribe', { uri: unknown })).toMatchObject({ error: { code: -32_002 } });
  expect(await ask('resources/subscribe', {})).toMatchObject({ error: { code: -32_602 } });
  const call = { jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params: { uri } };
  expect(readRpcResult(await postRawMessage(first.url, reader, call)).error).toMatchObject({ code: -32_000 });
  const blind = await first.token('refused.reader', { scopes: ['contacts:read'] });
  expect((await postRawMessage(first.url, blind, call)).status).toBe(403);

  await first.query(
    `update mcp_sessions set subscriptions = array(select 'x' || n from generate_series(1, 500) n)
     where agent_id = (select id from agents where canonical_handle = $1)`,
    ['refused.reader'],
  );
  expect(await ask('resources/subscribe', { uri })).toMatchObject({ error: { code: -32_000 } });
});

test('the id of a thread is completed by its beginning and by its subject, among the threads of the caller', async () => {
  const { ask, thread_id, reader } = await scene('complete');
  await scene('completeother');
  const ref = { type: 'ref/resource', uri: 'service://threads/{id}' };
  const completed = async (value: string) => {
    const { result } = await ask('completion/complete', { ref, argument: { name: 'id', value } });
    return CompleteResultSchema.parse(result).completion;
  };
  expect(await completed('')).toMatchObject({ values: [thread_id], hasMore: false });
  expect((await completed(thread_id.slice(0, 10))).values).toEqual([thread_id]);
  expect((await completed('about COMPLETE')).values).toEqual([thread_id]);
  expect((await completed('nothing like it')).values).toEqual([]);

  for (const wrong of [
    { ref, argument: { name: 'other', value: '' } },
    { ref: { ...ref, uri: 'service://threads' }, argument: { name: 'id', value: '' } },
    { ref: { type: 'ref/prompt', name: 'x' }, argument: { name: 'id', value: '' } },
    {},
  ])
    expect(await ask('completion/complete', wrong)).toMatchObject({ error: { code: -32_602 } });
  const blind = await first.token('complete.reader', { scopes: ['contacts:read'] });
  const params = { ref, argument: { name: 'id', value: '' } };
  const call = { jsonrpc: '2.0', id: 1, method: 'completion/complete', params };
  expect((await postRawMessage(first.url, blind, call)).status).toBe(403);
  expect((await postRawMessage(first.url, reader, call)).status).toBe(200);
});
