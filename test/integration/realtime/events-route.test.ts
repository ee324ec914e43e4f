import { expect, onTestFinished, test } from 'vitest';
import { rangeLength } from '../../../packages/core/src/domain/feed/position-ranges.ts';
import { eventPage } from '../../../src/transports/rest/events.ts';
import { checkReceived } from '../../support/asyncapi/check-received.ts';
import { startRealtimeNode } from '../ws/realtime-node.ts';
import { use } from '../../support/use.ts';

const node = use(startRealtimeNode);

function get(token: string, query: Record<string, string | number> = {}, signal?: AbortSignal) {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) search.set(name, String(value));
  const headers = { Authorization: `Bearer ${token}` };
  return fetch(`${node.address}/v1/events?${search.toString()}`, { headers, ...(signal && { signal }) });
}

async function page(token: string, query: Record<string, string | number> = {}) {
  const response = await get(token, query);
  expect(response.status).toBe(200);
  const body: unknown = await response.json();
  checkReceived('long_poll', body);
  return eventPage.parse(body);
}

function acknowledge(token: string, body: string) {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  return fetch(`${node.address}/v1/events/ack`, { method: 'POST', headers, body });
}

function subjects({ events }: Awaited<ReturnType<typeof page>>): unknown[] {
  return events.map(({ data }) => data['subject']);
}

test('pages continue from cursor to cursor, and report whether there is more', async () => {
  const agent = await node.agent();
  const token = await node.token(agent);
  const start = await page(token);
  expect(start).toEqual({ events: [], cursor: node.cursors.encodeFeed(agent, 0), complete: true });
  for (const subject of ['1', '2', '3']) await node.emit([agent], subject);
  const first = await page(token, { cursor: start.cursor, limit: 2 });
  expect(first.complete).toBe(false);
  expect(first.events[1]?.cursor).toBe(first.cursor);
  const second = await page(token, { cursor: first.cursor, limit: 2, wait: 30 });
  expect(second.complete).toBe(true);
  expect([...subjects(first), ...subjects(second)]).toEqual(['1', '2', '3']);
});

/** The number of callers of this agent that wait. */
function waiting(agent: string, { realtime } = node): number {
  let members = 0;
  realtime.revoke((actor) => {
    if (actor.agent_id === agent) members += 1;
    return false;
  });
  return members;
}

async function untilWaiting(agent: string, members: number): Promise<void> {
  await expect.poll(() => waiting(agent)).toBe(members);
}

test('a caller waits for the first event', async () => {
  const agent = await node.agent();
  const token = await node.token(agent);
  const { cursor } = await page(token);
  const answer = page(token, { cursor, wait: 30 });
  await untilWaiting(agent, 1);
  await node.emit([agent], 'worth it');
  expect(subjects(await answer)).toEqual(['worth it']);
});

test('a wait ends empty after its timeout', async () => {
  const begun = Date.now();
  const answer = await page(await node.token(await node.agent()), { wait: 1 });
  expect(answer.events).toEqual([]);
  expect(Date.now() - begun).toBeGreaterThanOrEqual(950);
});

test('a caller that disconnects leaves no waiting call', async () => {
  const agent = await node.agent();
  const gone = new AbortController();
  const answer = get(await node.token(agent), { wait: 30 }, gone.signal);
  await untilWaiting(agent, 1);
  gone.abort();
  await expect(answer).rejects.toThrow();
  await untilWaiting(agent, 0);
});

test('a stopping process responds to waiting callers immediately', async () => {
  const stopping = await startRealtimeNode();
  const agent = await stopping.agent();
  const token = await stopping.token(agent);
  const headers = { Authorization: `Bearer ${token}` };
  const answer = fetch(`${stopping.address}/v1/events?wait=30`, { headers });
  await expect.poll(() => waiting(agent, stopping)).toBe(1);
  const stopped = stopping.stop();
  expect(await (await answer).json()).toMatchObject({ complete: true });
  await stopped;
});

test('many callers can wait at the same time without a warning', async () => {
  const crowded = await startRealtimeNode();
  const warnings: string[] = [];
  const note = (warning: Error) => void warnings.push(warning.message);
  process.on('warning', note);
  onTestFinished(() => void process.off('warning', note));
  const agent = await crowded.agent();
  const headers = { Authorization: `Bearer ${await crowded.token(agent)}` };
  const answers = Array.from({ length: 15 }, () =>
    fetch(`${crowded.address}/v1/events?wait=30`, { headers }),
  );
  await expect.poll(() => waiting(agent, crowded)).toBe(15);
  const stopped = crowded.stop();
  for (const answer of await Promise.all(answers)) expect(answer.status).toBe(200);
  expect(warnings).toEqual([]);
  await stopped;
});

test.each([
  [{ limit: 0 }, 'VALIDATION_ERROR'],
  [{ limit: 101 }, 'VALIDATION_ERROR'],
  [{ limit: 'many' }, 'VALIDATION_ERROR'],
  [{ wait: 31 }, 'VALIDATION_ERROR'],
  [{ wait: -1 }, 'VALIDATION_ERROR'],
  [{ wait: 1.5 }, 'VALIDATION_ERROR'],
  [{ cursor: '' }, 'INVALID_CURSOR'],
  [{ cursor: 'nonsense' }, 'INVALID_CURSOR'],
])('%j is refused with %s', async (query, code) => {
  const response = await get(await node.token(await node.agent()), query);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { code } });
});

test.each([
  ['{}', 'VALIDATION_ERROR'],
  ['{"cursor":1}', 'VALIDATION_ERROR'],
  ['{"cursor":"x","more":1}', 'VALIDATION_ERROR'],
  ['{"cursor":"nonsense"}', 'INVALID_CURSOR'],
  ['{"cursor"', 'INVALID_JSON'],
])('acknowledging %s is refused with %s', async (body, code) => {
  const response = await acknowledge(await node.token(await node.agent()), body);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { code } });
});

test('a page at the end of an epoch of the feed says that events follow in the next one', async () => {
  const agent = await node.agent();
  const token = await node.token(agent);
  const { cursor } = await page(token);
  await node.emit([agent], 'before');
  await node.db.feedEpoch.beginRange('', 5_000, rangeLength);
  const last = await page(token, { cursor });
  expect([subjects(last), last.complete]).toEqual([['before'], true]);
  await node.emit([agent], 'after');
  const first = await page(token, { cursor });
  expect([subjects(first), first.complete]).toEqual([['before'], false]);
  const second = await page(token, { cursor: first.cursor });
  expect(second).toMatchObject({ complete: true });
  expect(subjects(second)).toEqual(['after']);
});

test('a token that can see no event is refused with the scope that it needs', async () => {
  const token = await node.token(await node.agent(), { scopes: ['threads:write'] });
  for (const response of [await get(token), await acknowledge(token, '{"cursor":"x"}')]) {
    expect(response.status).toBe(403);
    expect(response.headers.get('www-authenticate')).toContain('error="insufficient_scope"');
    expect(await response.json()).toMatchObject({ error: { code: 'INSUFFICIENT_SCOPE' } });
  }
});
