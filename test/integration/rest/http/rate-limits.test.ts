import { randomUUID } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startApi } from '../../../../src/api.ts';
import { compose } from '../../../../src/compose.ts';
import { createLifecycle } from '../../../../src/start/lifecycle.ts';
import { maintenanceHandler } from '../../../../workers/maintenance/tasks.ts';
import { callToolRaw } from '../../../clients/mcp/client.ts';
import { describeWithRedis, startTestRedis } from '../../../support/servers/redis/server.ts';
import { outcomeOf, requestRest, type RestResponse } from '../../../clients/rest.ts';
import { type Backend, startService, type TestAgent, type TestService } from '../../../support/service.ts';
import { startTcpProxy } from '../../../support/servers/tcp-proxy.ts';
import { stopAfterTest } from '../../../support/use.ts';

async function start(
  RATE_LIMITS: string,
  options: { backend?: Backend; env?: Record<string, string> } = {},
): Promise<TestService> {
  const { backend = 'postgres', env } = options;
  return stopAfterTest(await startService({ backend, worker: false, env: { RATE_LIMITS, ...env } }));
}

/** A second API process on the same database and Redis. */
async function secondApi({ core }: TestService): Promise<string> {
  const lifecycle = createLifecycle(core.logger);
  const { port } = await startApi(compose(core.config, 'second'), lifecycle);
  onTestFinished(async () => void (await lifecycle.stop('the test is over')));
  return `http://127.0.0.1:${port}/v1`;
}

async function newThread(service: TestService, ann: TestAgent): Promise<string> {
  const { handle } = await service.agent();
  const body = { with_handle: handle };
  const created = await service.post(ann, '/threads', body);
  expect(created.status).toBe(201);
  return created.body.id;
}

const send = (api: string, { token }: TestAgent, thread_id: string, body: object = { content: 'x' }) =>
  requestRest('POST', `${api}/threads/${thread_id}/messages`, { token, body });
const listThreads = (api: string, { token }: TestAgent) => requestRest('GET', `${api}/agents/me`, { token });

const readRateLimitHeaders = ({ headers }: RestResponse) => [
  headers.get('ratelimit-policy'),
  headers.get('ratelimit'),
];

function expectLimited(answer: RestResponse, budget: string): void {
  expect(outcomeOf(answer)).toBe('429 RATE_LIMITED');
  const retryAfter = answer.headers.get('retry-after') ?? '';
  expect(retryAfter).toMatch(/^[1-9]\d*$/);
  expect(answer.body.error.message).toContain(`the limit ${budget} is`);
  expect(answer.body.error.message).toContain(`try again in ${retryAfter} s`);
  expect(answer.headers.get('ratelimit')).toContain(`"${budget}";r=0;t=${retryAfter}`);
}

await describeWithRedis('limits on Redis', () => testSharedLimits('redis'));
describe('limits on PostgreSQL', () => testSharedLimits('postgres'));

function testSharedLimits(backend: Backend): void {
  test('messages: one budget per agent and thread, across transports and processes', async () => {
    const service = await start('send_message=4/60', { backend });
    const second = await secondApi(service);
    const ann = await service.agent();
    const [one, other] = [await newThread(service, ann), await newThread(service, ann)];
    const mcp = await service.token(ann.handle, { audience: 'mcp' });
    const call = () => callToolRaw(service.url, mcp, 'send_message', { thread_id: one, content: 'x' });

    expect((await send(service.api, ann, one)).status).toBe(201);
    expect((await send(second, ann, one)).status).toBe(201);
    expect((await call()).isError).toBe(false);
    expect((await send(service.api, ann, one)).headers.get('ratelimit')).toMatch(
      /^"send_message";r=0;t=\d+$/,
    );
    expectLimited(await send(second, ann, one), 'send_message');
    expectLimited(await send(service.api, ann, one), 'send_message');
    expect(await call()).toMatchObject({
      isError: true,
      structured: undefined,
      value: { error: { code: 'RATE_LIMITED', retry_after: expect.any(Number) } },
    });

    expect((await send(service.api, ann, other)).status).toBe(201);
    expect((await listThreads(service.api, ann)).status).toBe(200);
    const list = await service.get(ann, `/threads/${one}/messages`);
    expect(list.body.messages).toHaveLength(4);
  });

  test('threads: one budget per agent, and Retry-After is the time to the next period', async () => {
    const service = await start('create_thread=2/5', { backend });
    const [ann, bob] = await Promise.all([service.agent(), service.agent()]);
    const create = ({ token }: TestAgent) => service.post({ token }, '/threads', { with_handle: bob.handle });
    expect((await create(ann)).status).toBe(201);
    expect((await create(ann)).status).toBe(201);
    const refused = await create(ann);
    const until = Date.now() + 1_000 * Number(refused.headers.get('retry-after'));
    expectLimited(refused, 'create_thread');
    // It was refused before any work, and costs nothing else.
    expect(refused.headers.get('ratelimit')).not.toContain('default');
    const cid = await service.agent();
    expect((await create(cid)).status).toBe(201);
    await expect.poll(() => Date.now()).toBeGreaterThan(until);
    expect((await create(ann)).status).toBe(201);
  });
}

test('all other calls share one budget, including the long poll and its acknowledgement', async () => {
  const service = await start('default=4/60');
  const { token } = await service.agent();
  const page = await service.get({ token }, '/events');
  const body = { cursor: page.body.cursor };
  const answers = [
    page,
    await service.post({ token }, '/events/ack', body),
    await service.get({ token }, '/threads'),
    await service.get({ token }, '/threads/thd_none'),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 204, 200, 404]);
  for (const [index, answer] of answers.entries()) {
    expect(readRateLimitHeaders(answer)).toEqual([
      '"default";q=4;w=60',
      expect.stringMatching(`^"default";r=${3 - index};t=\\d+$`),
    ]);
  }
  expectLimited(await service.get({ token }, '/events'), 'default');
  expectLimited(await service.post({ token }, '/events/ack', body), 'default');
  expectLimited(await service.get({ token }, '/threads'), 'default');
});

test('malformed and refused calls report the remaining budgets', async () => {
  const service = await start('default=9/60,send_message=9/60,create_thread=9/60');
  const ann = await service.agent();
  const badQuery = await service.get(ann, '/threads?limit=0');
  expect([badQuery.status, ...readRateLimitHeaders(badQuery)]).toEqual([
    400,
    '"default";q=9;w=60',
    expect.stringMatching(/^"default";r=8;t=\d+$/),
  ]);
  const unreadable = await send(service.api, ann, 'thd_none', {});
  expect([unreadable.status, ...readRateLimitHeaders(unreadable)]).toEqual([
    400,
    '"default";q=9;w=60',
    expect.stringMatching(/^"default";r=7;t=\d+$/),
  ]);
  const unknown = await send(service.api, ann, 'thd_none');
  expect([unknown.status, ...readRateLimitHeaders(unknown)]).toEqual([
    404,
    '"send_message";q=9;w=60, "default";q=9;w=60',
    expect.stringMatching(/^"send_message";r=8;t=\d+, "default";r=6;t=\d+$/),
  ]);
});

test('repetitions with one key count as calls', async () => {
  const service = await start('send_message=3/60');
  const ann = await service.agent();
  const url = `${service.api}/threads/${await newThread(service, ann)}/messages`;
  const key = randomUUID();
  const repeat = () => requestRest('POST', url, { token: ann.token, key, body: { content: 'once' } });
  expect((await repeat()).status).toBe(201);
  expect((await repeat()).headers.get('idempotency-replayed')).toBe('true');
  expect((await repeat()).headers.get('ratelimit')).toMatch(/^"send_message";r=0;/);
  expectLimited(await repeat(), 'send_message');
});

test('a flood of absent threads is refused before any lookup', async () => {
  const service = await start('default=5/60');
  const ann = await service.agent();
  const thread_id = await newThread(service, ann);
  const refused = [];
  for (let calls = 0; calls < 20; calls += 1) {
    refused.push((await send(service.api, ann, `thd_${randomUUID()}`)).status);
  }
  expect(refused).toEqual([...Array(5).fill(404), ...Array(15).fill(429)]);
  // Every thread whose own budget was checked has a row. The sixth call exhausted the shared budget.
  const rows = await service.sql(`select key from rate_limits where key like 'send\\_message:%'`);
  expect(rows).toHaveLength(6);
  expectLimited(await send(service.api, ann, thread_id), 'default');
});

test('a flood of malformed input is refused early too', async () => {
  const service = await start('default=5/60');
  const ann = await service.agent();
  const refused = [];
  for (let calls = 0; calls < 8; calls += 1) refused.push((await send(service.api, ann, 'thd_x', {})).status);
  expect(refused).toEqual([400, 400, 400, 400, 400, 429, 429, 429]);
});

test('an agent with too many reads can still send', async () => {
  const service = await start('default=2/60');
  const ann = await service.agent();
  const thread_id = await newThread(service, ann);
  const reads = [
    await listThreads(service.api, ann),
    await listThreads(service.api, ann),
    await listThreads(service.api, ann),
  ];
  expect(reads.map(({ status }) => status)).toEqual([200, 200, 429]);
  expect((await send(service.api, ann, thread_id)).status).toBe(201);
  expectLimited(await send(service.api, ann, 'thd_none'), 'default');
});

test('a response that a tool fetches twice because of its length counts as one call', async () => {
  const service = await start('send_message=100/60,default=5/60');
  const ann = await service.agent();
  const thread_id = await newThread(service, ann);
  const content = 'x'.repeat(2_000);
  await Promise.all(Array.from({ length: 40 }, () => send(service.api, ann, thread_id, { content })));
  const mcp = await service.token(ann.handle, { audience: 'mcp' });
  const { value } = await callToolRaw(service.url, mcp, 'get_thread', { thread_id, message_limit: 40 });
  expect((value['messages'] as unknown[]).length).toBeLessThan(40);
  expect((await listThreads(service.api, ann)).headers.get('ratelimit')).toMatch(/^"default";r=3;/);
});

test('nothing is limited or reported when limits are off', async () => {
  const service = await start('off');
  const ann = await service.agent();
  const thread_id = await newThread(service, ann);
  const answers = await Promise.all(Array.from({ length: 70 }, () => send(service.api, ann, thread_id)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
  expect(answers.flatMap(readRateLimitHeaders).filter((header) => header !== null)).toEqual([]);
});

test('no limits are reported without a valid token', async () => {
  const service = await start('');
  expect(readRateLimitHeaders(await service.get({ token: 'wrong' }, '/agents/me'))).toEqual([null, null]);
});

test('the maintenance worker removes expired rows', async () => {
  const service = await start('');
  const ann = await service.agent();
  await listThreads(service.api, ann);
  const keys = async () =>
    (await service.sql<{ key: string }>('select key from rate_limits')).map(({ key }) => key);
  const past = { text: `insert into rate_limits (key, points, expire) values ('default:agt_past', 1, 1)` };
  await service.core.database.query(past, []);
  expect((await keys()).toSorted()).toEqual([`default:${ann.id}`, 'default:agt_past'].toSorted());
  await maintenanceHandler(service.core).handle({ task: 'expire-rate-limits' });
  expect(await keys()).toEqual([`default:${ann.id}`]);
});

await describeWithRedis('limits without their Redis', () => {
  test('are enforced per process without delay, and again in Redis after the outage', async () => {
    const redis = stopAfterTest(await startTestRedis());
    const proxy = stopAfterTest(await startTcpProxy(redis.url));
    const service = await start('send_message=2/60', { env: { REDIS_URL: proxy.url } });
    const second = await secondApi(service);
    const ann = await service.agent();
    const [before, during] = [await newThread(service, ann), await newThread(service, ann)];
    expect((await send(service.api, ann, before)).status).toBe(201);
    await proxy.disconnect();
    const statuses = [];
    for (const api of [service.api, second, service.api, second, service.api, second]) {
      statuses.push((await send(api, ann, during)).status);
    }
    expect(statuses).toEqual([201, 201, 201, 201, 429, 429]);
    await proxy.restore();
    const first = async () => (await send(service.api, ann, during)).status;
    await expect.poll(first).toBe(201);
    // Counts from before the outage apply again.
    expect((await send(service.api, ann, before)).status).toBe(201);
    expectLimited(await send(service.api, ann, before), 'send_message');
  });
});
