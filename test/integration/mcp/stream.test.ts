import { get, type IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { callToolRaw, sendRawRequest, readRpcResult } from '../../clients/mcp/client.ts';
import { createTestDatabase } from '../../support/servers/postgres/database.ts';
import { startMcpInstance } from './instance.ts';
import { openSseStream } from '../../clients/sse.ts';
import { use } from '../../support/use.ts';

const database = use(createTestDatabase);
const instance = use(() => startMcpInstance(database.url, { heartbeat_ms: 40 }));

function bearer(token: string): Record<string, string> {
  return { Authorization: `Bearer ${token}`, Accept: 'text/event-stream' };
}

async function conversation(owner: string) {
  const listener = await instance.token(`${owner}.listener`);
  const writer = await instance.token(`${owner}.writer`);
  const { value } = await callToolRaw(instance.url, writer, 'create_thread', {
    with_handle: `${owner}.listener`,
  });
  const send = (content: string) =>
    callToolRaw(instance.url, writer, 'send_message', { thread_id: value['id'], content });
  return { listener, send };
}

test('a stream without a session carries events as notifications, and resumes from any of them', async () => {
  const { listener, send } = await conversation('resume');
  const stream = await openSseStream(`${instance.url}/mcp`, bearer(listener));
  expect(stream.headers.get('content-type')).toBe('text/event-stream');
  expect(stream.headers.get('x-accel-buffering')).toBe('no');
  await send('one');
  await send('two');
  const events = await stream.events(2);
  const [one, two] = events.map((event) => JSON.parse(event.data));
  expect(one).toMatchObject({
    jsonrpc: '2.0',
    method: 'notifications/service/message_created',
    params: {
      content: 'one',
      sender: { canonical_handle: 'resume.writer' },
      _meta: { cursor: events[0]?.id, event_id: expect.stringMatching(/^evt_/) },
    },
  });
  expect(two.params).toMatchObject({ content: 'two' });
  stream.close();
  await send('three');

  const resumed = await openSseStream(`${instance.url}/mcp`, {
    ...bearer(listener),
    'Last-Event-ID': events[0]?.id ?? '',
  });
  const contents = (await resumed.events(2)).map((event) => JSON.parse(event.data).params.content);
  expect(contents).toEqual(['two', 'three']);
  resumed.close();
});

test('heartbeats are comments, without an event', async () => {
  const stream = await openSseStream(`${instance.url}/mcp`, bearer(await instance.token('beat.agent')));
  await expect.poll(() => stream.raw()).toMatch(/^(:\n)*: connected\nretry: \d+\n(:\n){3}/);
  stream.close();
});

test('a scope that is missing hides its events', async () => {
  const { listener, send } = await conversation('hidden');
  const blind = await instance.token('hidden.listener', { scopes: ['contacts:read'] });
  const [seeing, unseeing] = await Promise.all([
    openSseStream(`${instance.url}/mcp`, bearer(listener)),
    openSseStream(`${instance.url}/mcp`, bearer(blind)),
  ]);
  await send('for those who may see it');
  await seeing.events(1);
  expect(unseeing.raw()).not.toContain('data:');
  seeing.close();
  unseeing.close();
});

test('a broken Last-Event-ID and one of another agent are refused', async () => {
  const { listener, send } = await conversation('broken');
  const stream = await openSseStream(`${instance.url}/mcp`, bearer(listener));
  await send('x');
  const [event] = await stream.events(1);
  stream.close();
  const other = bearer(await instance.token('broken.third'));
  for (const id of ['nonsense', event?.id ?? '']) {
    const answer = await sendRawRequest(instance.url, {
      method: 'GET',
      headers: { ...other, 'Last-Event-ID': id },
    });
    expect([answer.status, readRpcResult(answer).error]).toMatchObject([
      400,
      { code: -32_602, data: { code: 'INVALID_CURSOR' } },
    ]);
  }
});

test('a cursor older than the retained events is answered with a gap, and the stream continues from there', async () => {
  const { listener, send } = await conversation('gap');
  const stream = await openSseStream(`${instance.url}/mcp`, bearer(listener));
  for (const content of ['one', 'two', 'three']) await send(content);
  const [one] = await stream.events(3);
  stream.close();
  const older = `delete from feed f using agents a
    where a.id = f.agent_id and a.canonical_handle = 'gap.listener'
      and f.number < (select max(number) from feed where agent_id = a.id)`;
  await instance.query(older, []);
  const resumed = await openSseStream(`${instance.url}/mcp`, {
    ...bearer(listener),
    'Last-Event-ID': one?.id ?? '',
  });
  const events = (await resumed.events(2)).map((event) => JSON.parse(event.data));
  expect(events).toMatchObject([
    { method: 'notifications/service/gap', params: { _meta: { cursor: expect.any(String) } } },
    { params: { content: 'three' } },
  ]);
  resumed.close();
});

test('a client that takes no event stream and one of a newer revision are refused', async () => {
  const headers = bearer(await instance.token('picky.agent'));
  const plain = await sendRawRequest(instance.url, {
    method: 'GET',
    headers: { ...headers, Accept: 'application/json' },
  });
  expect(plain.status).toBe(406);
  const newer = { ...headers, 'mcp-protocol-version': '2026-07-28' };
  expect((await sendRawRequest(instance.url, { method: 'GET', headers: newer })).status).toBe(400);
});

test('a stream ends with its token: expired, or revoked', async () => {
  const short = await openSseStream(
    `${instance.url}/mcp`,
    bearer(await instance.token('short.agent', { expires_in: 2 })),
  );
  await expect(short.ended).resolves.toBeUndefined();
  const revoked = await openSseStream(`${instance.url}/mcp`, bearer(await instance.token('revoked.agent')));
  instance.revoke('revoked.agent');
  await expect(revoked.ended).resolves.toBeUndefined();
});

test('a stream ends when the process stops, and continues on another one', async () => {
  const leaving = await startMcpInstance(database.url);
  const { listener, send } = await conversation('moving');
  const before = await openSseStream(`${leaving.url}/mcp`, bearer(listener));
  await send('before');
  const [event] = await before.events(1);
  await Promise.all([leaving.close(), before.ended]);
  await send('after');
  const after = await openSseStream(`${instance.url}/mcp`, {
    ...bearer(listener),
    'Last-Event-ID': event?.id ?? '',
  });
  const [next] = await after.events(1);
  expect(next?.data).toContain('"content":"after"');
  after.close();
});

/** A client that gets the headers and then reads nothing before it is told to. */
async function stall(url: string, token: string) {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(`${url}/mcp`, { headers: bearer(token) }, resolve).on('error', reject);
  });
  response.pause();
  /** Reads until these words came, or to the end. */
  return async function readOn(last?: string): Promise<string> {
    const chunks: string[] = [];
    response.setEncoding('utf8');
    try {
      for await (const chunk of response) {
        chunks.push(String(chunk));
        if (last !== undefined && chunks.slice(-2).join('').includes(last)) break;
      }
    } catch {
      chunks.push('cut'); // the server gave up
    }
    return chunks.join('');
  };
}

test('a reader that stops reading delays no other reader, and misses nothing when it continues or reconnects', async () => {
  const [patient, hasty] = await Promise.all([
    startMcpInstance(database.url, { heartbeat_ms: 60_000 }),
    startMcpInstance(database.url, { heartbeat_ms: 50 }),
  ]);
  const { listener, send } = await conversation('slow');
  const [goOn, comeBack] = await Promise.all([stall(patient.url, listener), stall(hasty.url, listener)]);
  const brisk = await openSseStream(`${instance.url}/mcp`, bearer(listener));
  // More than the socket buffers hold unread, which is about 4 MB.
  const filler = 'x'.repeat(32_000);
  const [lanes, each] = [8, 30];
  const count = lanes * each;
  const lane = async () => {
    for (let number = 1; number <= each; number += 1) await send(`${number} ${filler}`);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  const all = await brisk.events(count);
  const last = all.at(-1)?.id ?? '';
  brisk.close();

  const whole = await goOn(`id: ${last}\n`);
  expect(whole.match(/^id: /gm)).toHaveLength(count);
  const part = await comeBack();
  expect(part.length).toBeLessThan(whole.length);
  await Promise.all([patient.close(), hasty.close()]);
}, 120_000);
