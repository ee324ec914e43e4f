import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { callToolRaw, connectSdkClient } from '../../../clients/mcp/client.ts';
import { askStateless } from '../../../clients/mcp/stateless-request.ts';
import { useMcpPair } from '../instance.ts';

const statusQuery = 'feed.read_statuses';
/** The names of all statements that both processes send. */
const sent: unknown[] = [];

beforeAll(() => {
  const original = pg.Client.prototype.query;
  const record = function query(this: unknown, ...args: unknown[]): unknown {
    sent.push(Object(args[0]).name);
    return Reflect.apply(original, this, args);
  };
  vi.spyOn(pg.Client.prototype, 'query').mockImplementation(record);
});
afterAll(() => void vi.restoreAllMocks());

const [first, second] = useMcpPair();

type Call = (name: string, args?: Record<string, unknown>) => Promise<{ pending: unknown; queries: number }>;

/** Counts the pending events that a call reports, and the queries that it needs for that. */
const counted =
  (run: (name: string, args: Record<string, unknown>) => Promise<unknown>): Call =>
  async (name, args = {}) => {
    sent.length = 0;
    const meta = Object(await run(name, args));
    return { pending: meta.pending_events, queries: sent.filter((each) => each === statusQuery).length };
  };

async function openSession(token: string): Promise<Call> {
  const { client, close } = await connectSdkClient(first.url, token);
  onTestFinished(close);
  return counted(async (name, args) => (await client.callTool({ name, arguments: args }))['_meta']);
}

async function openStateless(token: string): Promise<Call> {
  return counted(async (name, args) => {
    const request = { method: 'tools/call', params: { name, arguments: args } };
    return (await askStateless(first.url, token, request)).result?.['_meta'];
  });
}

test.each([
  ['a session', openSession],
  ['2026-07-28', openStateless],
])('in %s, a call does not read the feed again for what its process committed', async (era, open) => {
  const owner = `kept${era.length}`;
  const writer = await first.token(`${owner}.writer`);
  const reader = await first.token(`${owner}.reader`);
  const created = await callToolRaw(first.url, writer, 'create_thread', { with_handle: `${owner}.reader` });
  const message = { thread_id: created.value['id'], content: 'hello' };
  const send = ({ url }: { url: string }, token = writer) => callToolRaw(url, token, 'send_message', message);
  const call = await open(reader);
  await send(first);
  expect(await call('whoami')).toEqual({ pending: 2, queries: 1 });
  expect(await call('list_threads')).toEqual({ pending: 2, queries: 0 });
  await send(first);
  await send(first, reader);
  expect(await call('whoami')).toEqual({ pending: 3, queries: 0 });
  // Its own messages do not count.
  expect(await call('send_message', message)).toEqual({ pending: 3, queries: 0 });
  expect(await call('send_message', message)).toEqual({ pending: 3, queries: 0 });
  await send(second);
  // While a process has readers, the other one sends it copies of its events.
  expect(await call('whoami')).toMatchObject({ pending: 4 });
  await send(first);
  expect(await call('whoami')).toEqual({ pending: 5, queries: 0 });
  // The wait has counted from its new position.
  await call('wait_for_events');
  expect(await call('whoami')).toEqual({ pending: 0, queries: 0 });
});

test('a token that sees less has a count of its own, which continues as well', async () => {
  const writer = await first.token('less.writer');
  const all = await openSession(await first.token('less.reader'));
  const threads = await openSession(await first.token('less.reader', { scopes: ['threads:read'] }));
  const contacts = await openSession(await first.token('less.reader', { scopes: ['contacts:read'] }));
  const { value } = await callToolRaw(first.url, writer, 'create_thread', { with_handle: 'less.reader' });
  const read = async () => [await all('whoami'), await threads('list_threads'), await contacts('whoami')];
  expect((await read()).map(({ pending }) => pending)).toEqual([1, 1, 0]);
  await callToolRaw(first.url, writer, 'send_message', { thread_id: value['id'], content: 'hello' });
  const known = { queries: 0 };
  expect(await read()).toEqual([
    { pending: 2, ...known },
    { pending: 2, ...known },
    { pending: 0, ...known },
  ]);
});
