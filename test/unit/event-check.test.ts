import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { eventOf, eventTypes } from '../../packages/core/src/events/list.ts';
import { examplePage } from '../../src/operations/examples/events.ts';
import { createEventChecks } from '../support/asyncapi/event-checks.ts';
import { buildAsyncApiDocument } from '../support/asyncapi/document.ts';
import { openSseStream } from '../clients/sse.ts';
import { connectSdkClient } from '../clients/mcp/client.ts';
import { connectWebSocket } from '../clients/websocket.ts';
import { listen } from '../support/servers/listen.ts';

const { checkSent } = createEventChecks(buildAsyncApiDocument());

const [event] = examplePage.events;
if (!event) throw new Error('there is no example');
const { cursor, id, data } = event;
const ready = {
  type: 'ready',
  data: { agent_id: 'agt_1', cursor, resumed: false, gap: false, pending_events: 0 },
};
const notification = {
  jsonrpc: '2.0',
  method: 'notifications/service/message_created',
  params: { ...data, _meta: { event_id: id, cursor } },
};

test('a valid event is accepted and its message is named', () => {
  for (const type of eventTypes) {
    expect(checkSent('websocket', { ...event, type, data: eventOf(type).example })).toBe(type);
  }
  expect(checkSent('websocket', ready)).toBe('ready');
  expect(checkSent('mcp_notifications', notification)).toBe('message.created');
  expect(checkSent('webhooks', event)).toBe('message.created');
  expect(checkSent('long_poll', examplePage)).toBe('page');
});

const { created_at: _time, ...timeless } = event;
const { content: _content, ...contentless } = eventOf('message.created').example as { content: string };

test.each<[string, Parameters<typeof checkSent>[0], unknown, RegExp]>([
  ['an unknown type', 'websocket', { ...event, type: 'message.burnt' }, /message\.burnt/],
  ['no type', 'websocket', { id }, /no such message/],
  ['what only clients send', 'websocket', { type: 'ping' }, /ping/],
  ['an envelope without its time', 'websocket', timeless, /created_at/],
  ['an envelope with more', 'websocket', { ...event, number: 1 }, /number/],
  ['data without its content', 'websocket', { ...event, data: contentless }, /content/],
  ['data of another event', 'websocket', { ...event, data: eventOf('message.read').example }, /content/],
  ['data with more', 'websocket', { ...event, data: { ...data, owner_id: 'acc_1' } }, /owner_id/],
  ['a notification of another form', 'mcp_notifications', event, /no such message/],
  ['a notification without a cursor', 'mcp_notifications', { ...notification, params: data }, /_meta/],
  ['a post with more', 'webhooks', { ...event, owner_id: 'acc_1' }, /owner_id/],
  ['a page with a wrong event', 'long_poll', { ...examplePage, events: [timeless] }, /long_poll/],
])('%s is found', (_, transport, value, why) => {
  expect(() => checkSent(transport, value)).toThrow(why);
});

/** A stream to who asks for one; to who initializes a session, that there is one. */
async function reply(request: IncomingMessage, response: ServerResponse, sse: unknown): Promise<void> {
  if (request.method === 'GET') {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.write(`id: 1\ndata: ${JSON.stringify(sse)}\n\n`);
    return;
  }
  const call = (await json(request)) as { id?: number; params?: { protocolVersion: string } };
  const { protocolVersion } = call.params ?? {};
  const result = { protocolVersion, capabilities: {}, serverInfo: { name: 'liar', version: '1' } };
  const answer = call.id === undefined ? '' : JSON.stringify({ jsonrpc: '2.0', id: call.id, result });
  response.writeHead(answer ? 200 : 202, { 'Content-Type': 'application/json' }).end(answer);
}

/** A service that sends the configured events over every transport. */
async function startInvalidServer(frames: readonly unknown[], sse: unknown): Promise<string> {
  const server = createServer((request, response) => {
    void reply(request, response, sse);
  });
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) => {
    for (const frame of frames) socket.send(JSON.stringify(frame));
  });
  const { url, close } = await listen(server);
  onTestFinished(() => {
    for (const socket of sockets.clients) socket.terminate();
    return close();
  });
  return url;
}

test('the WebSocket client of the tests rejects every invalid event', async () => {
  const client = await connectWebSocket(await startInvalidServer([ready, timeless], null));
  await expect(client.next(() => true)).rejects.toThrow(/AsyncAPI/);
  expect(() => client.frames).toThrow(/created_at/);
  expect(() => client.events()).toThrow(/created_at/);
  await expect(client.close()).rejects.toThrow(/created_at/);
});

test('it rejects an invalid first frame', async () => {
  await expect(connectWebSocket(await startInvalidServer([event], null))).rejects.toThrow();
  await expect(connectWebSocket(await startInvalidServer([{ ...ready, data: {} }], null))).rejects.toThrow(
    /AsyncAPI/,
  );
});

test('the readers of the MCP stream reject an invalid notification', async () => {
  const wrong = { ...notification, params: { ...data } };
  const url = await startInvalidServer([], wrong);
  const stream = await openSseStream(`${url}/mcp`, {});
  await expect(stream.events(1)).rejects.toThrow(/AsyncAPI/);
  stream.close();
  const client = await connectSdkClient(url, 'token');
  await expect.poll(() => thrownBy(() => client.notifications)).toMatch(/AsyncAPI/);
  await expect(client.close()).rejects.toThrow(/AsyncAPI/);
});

function thrownBy(run: () => unknown): string {
  try {
    run();
    return '';
  } catch (error) {
    return String(error);
  }
}
