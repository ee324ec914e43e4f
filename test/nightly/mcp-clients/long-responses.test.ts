import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createTestDatabase } from '../../support/servers/postgres/database.ts';
import { describeWithRedis, startTestRedis } from '../../support/servers/redis/server.ts';
import { type McpInstance, startMcpInstance } from '../../integration/mcp/instance.ts';
import {
  answerElicitation,
  openElicitingSession,
  startToolCall,
  post,
  type RawSession,
} from '../../clients/mcp/raw-elicitation.ts';
import { openSseStream } from '../../clients/sse.ts';
import { stopAfterTest, use } from '../../support/use.ts';

let database: { url: string };
let counter = 0;
beforeAll(async () => {
  database = await createTestDatabase();
});

/** A client that can show forms, and an agent that is strange to it. */
async function asker(at: McpInstance) {
  counter += 1;
  const [mine, stranger] = [`long${counter}.agent`, `far${counter}.agent`];
  const token = await at.token(mine);
  await at.token(stranger);
  const sender: RawSession = { url: at.url, token, session: await openElicitingSession(at.url, token) };
  return { stranger, sender };
}

async function opened(at: McpInstance) {
  const { stranger, sender } = await asker(at);
  const call = await startToolCall(sender, 1, 'request_contact', { handle: stranger });
  onTestFinished(() => call.stream.close());
  return { sender, call, id: await call.nextElicitation() };
}

const filler = 'ß'.repeat(200_000);
const many = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`field-${index}`, `${index}`]));

/** The bus takes 4 KB; what a person has decided arrives however much a client writes around it. */
function longAnswers(url: () => string | undefined): void {
  let processes: [McpInstance, McpInstance];
  beforeAll(async () => {
    const redis_url = url();
    const start = () => startMcpInstance(database.url, redis_url === undefined ? {} : { redis_url });
    processes = await Promise.all([start(), start()]);
    await Promise.all(processes.map((one) => one.connected()));
  });
  afterAll(() => Promise.all(processes.map((one) => one.close())));

  test.each([
    [
      'yes',
      { action: 'accept', content: { ...many, notes: filler, approve: true }, _meta: { filler } },
      null,
    ],
    ['no', { action: 'accept', content: { ...many, notes: filler, approve: false } }, 'APPROVAL_DENIED'],
    ['decline', { action: 'decline', content: { filler } }, 'APPROVAL_DENIED'],
    ['text for a yes', { action: 'accept', content: { filler, approve: 'true' } }, 'APPROVAL_REQUIRED'],
    ['object for a yes', { action: 'accept', content: { approve: [filler, true] } }, 'APPROVAL_REQUIRED'],
    ['choice of megabytes', { action: `accept${filler}`, content: { approve: true } }, 'APPROVAL_REQUIRED'],
  ])(
    'a long %s is what its person chose, at the process that asked and at another',
    async (_, given, code) => {
      const thief = (await asker(processes[0])).sender;
      for (const at of processes) {
        const { call, id, sender } = await opened(processes[0]);
        // Answers from other sessions are ignored, however long they are.
        const yes = { action: 'accept', content: { filler, approve: true } };
        const sibling = await openElicitingSession(at.url, sender.token);
        expect(await answerElicitation({ ...thief, url: at.url }, id, yes)).toBe(202);
        expect(await answerElicitation({ ...sender, url: at.url, session: sibling }, id, yes)).toBe(202);
        expect(
          await answerElicitation({ ...sender, url: at.url }, `${id.slice(0, 13)}${'A'.repeat(24)}`, yes),
        ).toBe(202);
        expect(await answerElicitation({ ...sender, url: at.url }, id, given)).toBe(202);
        const { isError, error } = await call.result(2);
        expect([isError, error['code'] ?? null]).toEqual([code !== null, code]);
      }
    },
  );

  test('a client that refuses the question with a long error leaves it unanswered', async () => {
    const { call, id, sender } = await opened(processes[0]);
    const error = { code: -32_601, message: filler };
    expect(await post({ ...sender, url: processes[1].url }, { jsonrpc: '2.0', id, error })).toBe(202);
    expect((await call.result(2)).error['code']).toBe('APPROVAL_REQUIRED');
    expect(processes.flatMap(({ loggedErrors }) => loggedErrors)).toEqual([]);
  });
}

await describeWithRedis('over Redis', () => {
  const redis = use(startTestRedis);
  longAnswers(() => redis.url);
});

describe('over PostgreSQL', () => longAnswers(() => undefined));

test('while a question is open, a client that requests progress gets it, and the stream sends heartbeats', async () => {
  const instance = stopAfterTest(await startMcpInstance(database.url, { progress_ms: 20, heartbeat_ms: 30 }));
  const { stranger, sender } = await asker(instance);
  const params = {
    name: 'request_contact',
    arguments: { handle: stranger },
    _meta: { progressToken: 7 },
  };
  const stream = await openSseStream(
    `${sender.url}/mcp`,
    {
      Authorization: `Bearer ${sender.token}`,
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'Mcp-Session-Id': sender.session,
    },
    JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  );
  const [question, ...reports] = (await stream.events(3)).map(({ data }) => JSON.parse(data));
  expect(question.method).toBe('elicitation/create');
  for (const report of reports)
    expect(report).toMatchObject({
      method: 'notifications/progress',
      params: { progressToken: 7, progress: expect.any(Number), total: 300 },
    });
  expect(reports[1].params.progress).toBeGreaterThan(reports[0].params.progress);
  await expect.poll(() => stream.raw()).toMatch(/^:/m);
  await answerElicitation(sender, question.id);
  await stream.ended;
  const last = (await stream.events(4)).map(({ data }) => JSON.parse(data)).at(-1);
  expect(last).toMatchObject({ id: 1, result: { structuredContent: { status: 'pending' } } });
});

test('a token that ends while a person thinks does nothing more; what the person decided is there for the next', async () => {
  const instance = stopAfterTest(await startMcpInstance(database.url));
  await instance.token('far.stranger');
  const [old, fresh] = [
    await instance.token('thinks.agent', { expires_in: 600 }),
    await instance.token('thinks.agent'),
  ];
  const sender: RawSession = {
    url: instance.url,
    token: old,
    session: await openElicitingSession(instance.url, old),
  };
  const call = await startToolCall(sender, 1, 'request_contact', { handle: 'far.stranger' });
  const id = await call.nextElicitation();
  instance.advanceTime(700_000);
  expect(await answerElicitation(sender, id)).toBe(401);
  expect(await answerElicitation({ ...sender, token: fresh }, id)).toBe(202);
  expect((await call.result(2)).error['code']).toBe('UNAUTHORIZED');
  const again = await startToolCall({ ...sender, token: fresh }, 2, 'request_contact', {
    handle: 'far.stranger',
  });
  expect(await again.result(1)).toMatchObject({ isError: false, value: { status: 'pending' } });
});
