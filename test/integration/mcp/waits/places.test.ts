import { createHash } from 'node:crypto';
import { connectTo } from '../../../support/servers/postgres/database.ts';
import { expect, onTestFinished, test } from 'vitest';
import { callToolRaw } from '../../../clients/mcp/client.ts';
import { askStateless, buildStatelessRequest } from '../../../clients/mcp/stateless-request.ts';
import { startMcpInstance, useMcpPair } from '../instance.ts';

const [first, second, database] = useMcpPair();

/** A reader that has received the thread, and what a writer does to send to it. */
async function conversation(owner: string) {
  const writer = await first.token(`${owner}.writer`);
  const reader = await first.token(`${owner}.reader`);
  const { value } = await callToolRaw(first.url, writer, 'create_thread', { with_handle: `${owner}.reader` });
  const thread_id = String(value['id']);
  const send = (content: string) => callToolRaw(first.url, writer, 'send_message', { thread_id, content });
  const wait = waiter(reader);
  expect(await wait()).toEqual([undefined]);
  return { reader, thread_id, send, wait };
}

/** Waits without a cursor; returns the contents. */
const waiter =
  (token: string) =>
  async (args: Record<string, unknown> = {}, { url } = first): Promise<unknown[]> =>
    contentsOf(await call(url, token, { wait_seconds: 0, ...args }));

async function call(url: string, token: string, args: object) {
  const params = { name: 'wait_for_events', arguments: args };
  return (await askStateless(url, token, { method: 'tools/call', params })).result?.['structuredContent'];
}

const contentsOf = (value: unknown): unknown[] =>
  Object(value).events.map(({ data }: { data: { content?: string } }) => data.content);

test('a wait continues where the last one ended, on every process: each event comes once', async () => {
  const { send, wait } = await conversation('robin');
  const sent = Array.from({ length: 40 }, (_, index) => `message ${index}`);
  for (const content of sent) await send(content);
  const seen: unknown[] = [];
  for (const index of sent.keys()) seen.push(...(await wait({ limit: 1 }, index % 2 ? second : first)));
  expect(seen).toEqual(sent);
  const restarted = await startMcpInstance(database.url);
  onTestFinished(() => restarted.close());
  await send('after a restart');
  expect(await wait({}, restarted)).toEqual(['after a restart']);
  expect(await wait({}, restarted)).toEqual([]);
});

test('a reply that was shown does not come again, and an explicit cursor moves the place only forward', async () => {
  const { reader, thread_id, send, wait } = await conversation('shown');
  const sending = send('Ready.');
  const params = { name: 'wait_for_reply', arguments: { thread_id, after_sequence: 0 } };
  await sending;
  const { result } = await askStateless(first.url, reader, { method: 'tools/call', params });
  expect(result).toMatchObject({ structuredContent: { reply: { content: 'Ready.' }, pending_events: 0 } });
  await send('one');
  expect(await wait({}, second)).toEqual(['one']);
  expect(await wait({ cursor: 'earliest', limit: 1 })).toEqual([undefined]);
  expect(await wait()).toEqual([]);
});

test('a wait whose client is gone before the answer does not move it: the next one returns the same events', async () => {
  const { reader, send, wait } = await conversation('gone');
  const sentRequest = async (signal: AbortSignal) => {
    const params = { name: 'wait_for_events', arguments: {} };
    const { headers, message } = buildStatelessRequest({ method: 'tools/call', params });
    const type = { Authorization: `Bearer ${reader}`, 'Content-Type': 'application/json' };
    const init = { method: 'POST', headers: { ...headers, ...type }, body: JSON.stringify(message), signal };
    return (await fetch(`${first.url}/mcp`, init)).text();
  };
  // While it waits.
  const waiting = new AbortController();
  const left = sentRequest(waiting.signal);
  await expect.poll(() => first.members('gone.reader')).toBe(1);
  waiting.abort();
  await expect(left).rejects.toThrow('abort');
  await expect.poll(() => first.members('gone.reader')).toBe(0);

  // After the events are found, before the answer is sent: the place is locked in between.
  await send('not to be lost');
  const lock = await connectTo(database.url);
  await lock.query('begin');
  await lock.query(
    `select 1 from mcp_sessions s join agents a on a.id = s.agent_id
     where a.canonical_handle = 'gone.reader' for update of s`,
  );
  const answering = new AbortController();
  const lost = sentRequest(answering.signal);
  const blocked = async () =>
    (
      await first.query(
        `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%mcp_sessions%'`,
        [],
      )
    ).length;
  await expect.poll(blocked).toBe(1);
  answering.abort();
  await expect(lost).rejects.toThrow('abort');
  await lock.query('commit');
  expect(await wait({}, second)).toEqual(['not to be lost']);
  expect(await wait({}, second)).toEqual([]);
});

test('each credential and each grant of an agent has a place of its own', async () => {
  const { reader, send, wait } = await conversation('apart');
  const issue = async (client_id: string, grant_id: string | null) => {
    const token = await first.token('apart.reader');
    if (grant_id !== null)
      await first.query(
        `insert into client_grants (grant_id, account_id, agent_id, client_id, redirect_host, scopes, created_at, expires_at)
         select $1, owner_id, id, $2, 'localhost', '{}', 0, 9999999999999 from agents where canonical_handle = 'apart.reader'`,
        [grant_id, client_id],
      );
    await first.query('update access_tokens set client_id = $2, grant_id = $3 where token_hash = $1', [
      createHash('sha256').update(token).digest(),
      client_id,
      grant_id,
    ]);
    return waiter(token);
  };
  const others = [
    await issue('credential_1', null),
    await issue('app', 'grant1'),
    await issue('app', 'grant2'),
  ];
  await send('for each');
  expect(await wait()).toEqual(['for each']);
  for (const other of others) {
    expect(await other()).toEqual([undefined, 'for each']);
    expect(await other()).toEqual([]);
  }
  // A new token of the same sign-in continues.
  expect(await waiter(await first.token('apart.reader'))()).toEqual([]);
  expect(await waiter(reader)()).toEqual([]);
});

test('it is kept for 24 hours, longer if waits continue; then waits start at the acknowledged position', async () => {
  const { send, wait } = await conversation('kept');
  await send('one');
  expect(await wait()).toEqual(['one']);
  const age = (hours: number) =>
    first.query(
      `update mcp_sessions s set seen_at = seen_at - $1 from agents a
       where a.id = s.agent_id and a.canonical_handle = 'kept.reader'`,
      [hours * 3_600_000],
    );
  for (const hours of [20, 20]) {
    await age(hours);
    await first.db.mcpSessions.removeBefore(Date.now() - 3_600_000, 100);
    expect(await wait()).toEqual([]);
  }
  await age(25);
  expect(await wait()).toEqual([undefined, 'one']);
  expect(await wait()).toEqual([]);
});
