import { expect, test } from 'vitest';
import { callToolRaw, postRawMessage, readRpcResult } from '../../clients/mcp/client.ts';
import { useSharedService } from '../../support/service.ts';
import { connectWebSocket } from '../../clients/websocket.ts';
import { openSseStream } from '../../clients/sse.ts';

const service = useSharedService();

/** An agent with a REST token and an MCP token, and a second agent that writes to it. */
async function conversation() {
  const { handle, token: api } = await service.agent();
  const mcp = await service.token(handle, { audience: 'mcp' });
  const writer = await service.agent();
  const thread = await service.thread(writer, { handle });
  const send = async (content: string) => {
    expect((await service.post(writer, `/threads/${thread}/messages`, { content })).status).toBe(201);
  };
  const pending = async () => {
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'whoami' } };
    const { result } = readRpcResult(await postRawMessage(service.url, mcp, call));
    return Object(result?.['_meta']).pending_events as unknown;
  };
  const tool = async (name: string, args: object) => (await callToolRaw(service.url, mcp, name, args)).value;
  return { handle, api, mcp, send, pending, tool };
}

const contents = ({ events }: Record<string, unknown>): unknown[] =>
  Object(events).map(({ data }: { data: { content?: string } }) => data.content);

test('events acknowledged through MCP are acknowledged on every transport, and each starts after them', async () => {
  const { api, mcp, send, pending, tool } = await conversation();
  const { cursor: begin } = await tool('wait_for_events', { wait_seconds: 0 });
  await send('one');
  await send('two');
  // No position is acknowledged yet, so everything is pending; reading does not acknowledge.
  const page = await tool('wait_for_events', { cursor: begin, limit: 1 });
  expect([contents(page), await pending()]).toEqual([['one'], 3]);

  const call = { name: 'acknowledge_events', arguments: { cursor: page['cursor'] } };
  const { result } = readRpcResult(
    await postRawMessage(service.url, mcp, { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }),
  );
  expect(result).toMatchObject({ structuredContent: { pending_events: 1 }, _meta: { pending_events: 1 } });
  expect(await pending()).toBe(1);

  // Each of them without a cursor.
  expect(contents(await tool('wait_for_events', {}))).toEqual(['two']);
  const { body } = await service.get({ token: api }, '/events');
  expect(contents(body)).toEqual(['two']);
  const socket = await connectWebSocket(service.url, { token: api });
  expect(socket.ready).toMatchObject({ resumed: true, cursor: page['cursor'] });
  expect(await socket.next(({ type }) => type === 'message.created')).toMatchObject({
    data: { content: 'two' },
  });
  await socket.close();
  const headers = { Authorization: `Bearer ${mcp}`, Accept: 'text/event-stream' };
  const stream = await openSseStream(`${service.url}/mcp`, headers);
  expect(JSON.parse((await stream.events(1))[0]?.data ?? '')).toMatchObject({ params: { content: 'two' } });
  stream.close();

  // It moves forward only.
  expect(await tool('acknowledge_events', { cursor: begin })).toEqual({ pending_events: 1 });
  const { cursor } = await tool('wait_for_events', {});
  expect(await tool('acknowledge_events', { cursor })).toEqual({ pending_events: 0 });
});

test('events acknowledged on other transports are acknowledged for MCP', async () => {
  const { api, send, pending, tool } = await conversation();
  const { cursor: begin } = await tool('wait_for_events', { wait_seconds: 0 });
  await send('one');
  await send('two');
  const posted = await service.post({ token: api }, '/events/ack', { cursor: begin });
  expect([posted.status, await pending()]).toEqual([204, 2]);

  const socket = await connectWebSocket(service.url, { token: api });
  const one = await socket.next(({ type }) => type === 'message.created');
  socket.send({ type: 'ack', cursor: one.cursor });
  socket.send({ type: 'ping' });
  await socket.next(({ type }) => type === 'pong');
  await expect.poll(pending).toBe(1);
  await socket.close();
  expect(contents(await tool('wait_for_events', {}))).toEqual(['two']);
});
