import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { connectSdkClient } from '../../clients/mcp/client.ts';
import { pollEvents, streamEvents } from '../../clients/mcp/events.ts';
import { postStateless } from '../../clients/mcp/stateless-request.ts';
import { requestRest } from '../../clients/rest.ts';
import { allTestScopes, startService, type TestService } from '../../support/service.ts';
import { connectWebSocket } from '../../clients/websocket.ts';
import { listen } from '../../support/servers/listen.ts';

interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
}

interface ExportRequest {
  resourceSpans: { resource: { attributes: object[] }; scopeSpans: { spans: Span[] }[] }[];
}

const spans: Span[] = [];
const resources: object[][] = [];
let exportedSpans = '';
/** Receives the spans, by OTLP over HTTP with JSON. */
const collector = createServer((request, response) => void collect(request, response));

async function collect(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const delivery = (await json(request)) as ExportRequest;
  exportedSpans += JSON.stringify(delivery);
  const scopes = delivery.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans);
  spans.push(...scopes.flatMap((scope) => scope.spans));
  resources.push(...delivery.resourceSpans.map(({ resource }) => resource.attributes));
  response.setHeader('Content-Type', 'application/json').end('{}');
}

const posted: { traceparent: string | undefined; body: unknown }[] = [];
/** Receives the webhooks. */
const receiver = createServer((request, response) => void receive(request, response));

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { traceparent: header } = request.headers;
  posted.push({ traceparent: header === undefined ? undefined : String(header), body: await json(request) });
  response.end();
}

let service: TestService;
let listening: Awaited<ReturnType<typeof listen>>[];
beforeAll(async () => {
  vi.stubEnv('OTEL_RESOURCE_ATTRIBUTES', 'deployment.environment.name=staging');
  listening = [await listen(collector), await listen(receiver)];
  service = await startService({
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: listening[0]?.url ?? '',
      WEBHOOK_NETWORKS: '127.0.0.0/8',
    },
  });
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await service.stop();
  for (const server of listening) await server.close();
});

const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
const traceparent = `00-${trace}-00f067aa0ba902b7-01`;

test('the trace of a sender leads through the API, the queue and the worker to every recipient', async () => {
  const [ann, bob] = await Promise.all([service.agent(), service.agent()]);
  const hook = { url: listening[1]?.url, event_types: ['message.created'] };
  const owner = await service.token(bob.handle, { scopes: [...allTestScopes, 'agents:write'] });
  expect((await service.post({ token: owner }, '/webhooks', hook)).status).toBe(201);
  const socket = await connectWebSocket(service.url, { token: bob.token });
  const mcp = await connectSdkClient(service.url, await service.token(bob.handle, { audience: 'mcp' }));
  const body = { with_handle: bob.handle, initial_message: 'words of a message' };
  const thread = await service.post(ann, '/threads', body, { headers: { traceparent } });

  const frame = await socket.next(({ type }) => type === 'message.created');
  expect(frame['traceparent']).toMatch(new RegExp(`^00-${trace}-[0-9a-f]{16}-01$`));
  await expect.poll(() => mcp.notifications.length).toBe(2);
  expect(mcp.notifications[1]).toMatchObject({ params: { _meta: { traceparent: frame['traceparent'] } } });
  await expect.poll(() => posted.length).toBe(1);
  expect(posted[0]?.body).toMatchObject({ traceparent: frame['traceparent'] });
  expect(posted[0]?.traceparent).toMatch(new RegExp(`^00-${trace}-`));
  const page = await service.get(bob, `/events?cursor=${socket.ready.cursor}`);
  expect(page.body.events[1]).toMatchObject({ traceparent: frame['traceparent'] });

  // A call without a trace context starts a new trace, and one that is not sampled leaves no trace.
  const path = `${service.api}/threads/${thread.body.id}/messages`;
  await requestRest('POST', path, { token: ann.token, body: { content: 'another' } });
  const unsampled = { traceparent: traceparent.replace(/01$/, '00') };
  await requestRest('POST', path, { token: ann.token, body: { content: 'quiet' }, headers: unsampled });
  const quiet = await socket.next((next) => (next.data as { content?: string }).content === 'quiet');
  expect(quiet).not.toHaveProperty('traceparent');
  await Promise.all([socket.close(), mcp.close()]);

  const mine = () => spans.filter(({ traceId }) => traceId === trace);
  const names = () => mine().map(({ name }) => name);
  const expected = ['POST /v1/threads', 'create_thread', 'process delivery', 'POST webhook'];
  await expect.poll(names).toEqual(expect.arrayContaining(expected));
  // Every span has a parent in the trace, up to the sender's own.
  const known = new Set(['00f067aa0ba902b7', ...mine().map(({ spanId }) => spanId)]);
  const loose = () => mine().filter(({ parentSpanId }) => !known.has(parentSpanId ?? ''));
  expect(loose().map(({ name }) => name)).toEqual([]);
  expect(mine().find(({ name }) => name === 'POST /v1/threads')?.parentSpanId).toBe('00f067aa0ba902b7');
  const attributes = { 'service.name': 'ams-test', 'deployment.environment.name': 'staging' };
  for (const [key, stringValue] of Object.entries(attributes))
    expect(resources[0]).toContainEqual({ key, value: { stringValue } });
  for (const secret of ['words of a message', ann.token, bob.token, ann.handle])
    expect(exportedSpans).not.toContain(secret);
});

test('a stateless MCP call continues the trace of its _meta, and its events carry it to polls and streams', async () => {
  const [ann, bob] = await Promise.all([service.agent(), service.agent()]);
  const [writer, reader] = await Promise.all(
    [ann, bob].map(({ handle }) => service.token(handle, { audience: 'mcp' })),
  );
  const named = (id: string) => `00-${id}-00f067aa0ba902b7-01`;
  const name = 'thread.created';
  const { cursor } = await pollEvents(service.url, reader ?? '', { name, cursor: null });
  const create = async (meta: object, headers = {}) => {
    const params = { name: 'create_thread', arguments: { with_handle: bob.handle } };
    const request = { method: 'tools/call', params, meta: { ...meta }, headers };
    expect((await postStateless(service.url, writer ?? '', request)).status).toBe(200);
    const { events } = await pollEvents(service.url, reader ?? '', { name, cursor });
    const { _meta: metaOfEvent } = events.at(-1) ?? {};
    return metaOfEvent;
  };
  const [inMeta, inHeader] = ['aaaabbbbccccdddd0000111122223333', 'aaaabbbbccccdddd0000111122224444'];
  const traced = await create({ traceparent: named(inMeta) });
  expect(traced).toEqual({ traceparent: expect.stringMatching(`^00-${inMeta}-[0-9a-f]{16}-01$`) });
  // The header has precedence, and a malformed context starts a new trace.
  const both = await create({ traceparent: named(inMeta) }, { traceparent: named(inHeader) });
  expect(both).toEqual({ traceparent: expect.stringContaining(inHeader) });
  const other = await create({ traceparent: 'not a trace' });
  expect(other).toEqual({ traceparent: expect.not.stringContaining(inMeta) });
  const stream = await streamEvents(service.url, reader ?? '', { name, cursor });
  const frames = await stream.frames(4);
  stream.close();
  expect(frames[1]).toMatchObject({ params: { _meta: traced } });
});
