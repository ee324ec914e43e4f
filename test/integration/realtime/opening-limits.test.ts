import { expect, onTestFinished, test } from 'vitest';
import { maintenanceHandler } from '../../../workers/maintenance/tasks.ts';
import { initializeRequest } from '../../clients/mcp/bridge.ts';
import { postRawMessage, readRpcResult, sendRawRequest } from '../../clients/mcp/client.ts';
import { postStateless } from '../../clients/mcp/stateless-request.ts';
import { openSseStream } from '../../clients/sse.ts';
import { connectWebSocket, refused } from '../../clients/websocket.ts';
import { useService } from '../../support/service.ts';

const RATE_LIMITS = 'mcp_initialize=2/60,websocket=2/60,event_stream=2/60';
const service = useService({ worker: false, env: { RATE_LIMITS } });

const seconds = /^[1-9]\d?$/;

test('initialize is limited per agent: 429, a JSON-RPC error with the id, Retry-After, and no session', async () => {
  const { id, handle, token } = await service.agent({ audience: 'mcp' });
  const other = await service.token(handle, { audience: 'mcp' });
  const begin = (mine: string) => postRawMessage(service.url, mine, { ...initializeRequest, id: 'mine' });
  expect([(await begin(token)).status, (await begin(other)).status]).toEqual([200, 200]);
  const limited = await begin(token);
  const retryAfter = limited.headers.get('retry-after') ?? '';
  expect([limited.status, retryAfter]).toEqual([429, expect.stringMatching(seconds)]);
  expect(limited.headers.get('mcp-session-id')).toBeNull();
  expect(readRpcResult(limited)).toMatchObject({
    id: 'mine',
    error: {
      code: -32_000,
      message: expect.stringContaining('the limit mcp_initialize is 2 in 60 s'),
      data: { code: 'RATE_LIMITED', retry_after: Number(retryAfter) },
    },
  });
  const text = 'select 1 from mcp_sessions where agent_id = $1';
  expect(await service.sql(text, [id])).toHaveLength(2);
  // Neither other agents nor other calls are affected.
  expect((await begin((await service.agent({ audience: 'mcp' })).token)).status).toBe(200);
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  expect((await postRawMessage(service.url, token, list)).status).toBe(200);
});

test('opening WebSockets is limited per agent: the handshake gets 429 with Retry-After', async () => {
  const { handle, token } = await service.agent({ audience: 'ws' });
  const other = await service.token(handle, { audience: 'ws' });
  for (const mine of [token, other]) {
    const socket = await connectWebSocket(service.url, { token: mine });
    await socket.close();
  }
  const refusal = await refused(service.url, { token });
  expect(refusal).toMatchObject({
    status: 429,
    headers: { 'retry-after': expect.stringMatching(seconds) },
    body: { error: { code: 'RATE_LIMITED', message: expect.stringContaining('the limit websocket is') } },
  });
  const stranger = await service.agent({ audience: 'ws' });
  const socket = await connectWebSocket(service.url, { token: stranger.token });
  await socket.close();
});

test('opening notification streams is limited per agent: 429, a JSON-RPC error, Retry-After', async () => {
  const { token } = await service.agent({ audience: 'mcp' });
  const headers = { Authorization: `Bearer ${token}`, Accept: 'text/event-stream' };
  for (let streams = 0; streams < 2; streams += 1) {
    const stream = await openSseStream(`${service.url}/mcp`, headers);
    onTestFinished(() => stream.close());
  }
  const limited = await sendRawRequest(service.url, { method: 'GET', headers });
  expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, expect.stringMatching(seconds)]);
  expect(readRpcResult(limited)).toMatchObject({
    id: null,
    error: { code: -32_000, data: { code: 'RATE_LIMITED' } },
  });
});

test('opening subscriptions is limited with the notification streams, with the id of the request', async () => {
  const { token } = await service.agent({ audience: 'mcp' });
  const listen = () =>
    postStateless(service.url, token, {
      method: 'subscriptions/listen',
      params: { notifications: {} },
      id: 'mine',
    });
  expect([(await listen()).status, (await listen()).status]).toEqual([200, 200]);
  const limited = await listen();
  expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, expect.stringMatching(seconds)]);
  expect(readRpcResult(limited)).toMatchObject({ id: 'mine', error: { data: { code: 'RATE_LIMITED' } } });
});

test('sessions that were not used for an hour are deleted', async () => {
  const { id, token } = await service.agent({ audience: 'mcp' });
  const begin = async () =>
    (await postRawMessage(service.url, token, initializeRequest)).headers.get('mcp-session-id') ?? '';
  const ids = [await begin(), await begin()];
  expect(ids).not.toContain('');
  await service.sql(
    'update mcp_sessions set seen_at = seen_at - 3660000 where agent_id = $1 and id_hash = sha256($2)',
    [id, Buffer.from(ids[0] ?? '')],
  );
  await maintenanceHandler(service.core).handle({ task: 'expire-mcp-sessions' });
  const text = `select encode(id_hash, 'hex') from mcp_sessions where agent_id = $1`;
  expect(await service.sql(text, [id])).toHaveLength(1);
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  const statuses = [];
  for (const session of ids)
    statuses.push((await postRawMessage(service.url, token, list, { 'mcp-session-id': session })).status);
  expect(statuses).toEqual([404, 200]);
});
