import { expect, test } from 'vitest';
import type { Scope } from '../../../packages/core/src/domain/auth/scopes.ts';
import { removeOldFeeds } from '../../../workers/maintenance/feed-retention.ts';
import { callToolRaw, postRawMessage, readRpcResult } from '../../clients/mcp/client.ts';
import { useMcpInstance } from './instance.ts';

const instance = useMcpInstance();

async function metaOf(token: string, name = 'whoami', args: object = {}): Promise<unknown> {
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } };
  return readRpcResult(await postRawMessage(instance.url, token, call)).result?.['_meta'];
}

test('results say where the feed stood before the call, and how much waits behind the acknowledged position', async () => {
  const writer = await instance.token('standing.writer');
  const reader = await instance.token('standing.reader');
  const start = await metaOf(reader);
  expect(start).toEqual({ cursor: expect.any(String), pending_events: 0 });
  const { value } = await callToolRaw(instance.url, writer, 'create_thread', {
    with_handle: 'standing.reader',
  });
  const thread_id = value['id'];
  await callToolRaw(instance.url, writer, 'send_message', { thread_id, content: 'one' });
  // Nothing is acknowledged yet: it is counted from the oldest event.
  const later = await metaOf(reader);
  expect(later).toMatchObject({ pending_events: 2 });
  expect(later).not.toEqual(start);

  expect(await metaOf(reader, 'get_thread', { thread_id: 'thd_none' })).toMatchObject({ pending_events: 2 });

  // Events that the call itself causes are after its cursor.
  const sent = Object(await metaOf(writer, 'send_message', { thread_id, content: 'two' }));
  const { value: events } = await callToolRaw(instance.url, reader, 'wait_for_events', {
    cursor: Object(later).cursor,
  });
  expect(events['events']).toMatchObject([{ data: { content: 'two' } }]);
  const waited = { cursor: sent.cursor, types: ['message.created'], wait_seconds: 0 };
  expect(Object(await metaOf(writer, 'wait_for_events', waited)).cursor).not.toBe(sent.cursor);
});

test('a token hears only of what it may see, and no more than a hundred', async () => {
  const writer = await instance.token('counted.writer');
  await instance.token('counted.reader');
  await callToolRaw(instance.url, writer, 'create_thread', { with_handle: 'counted.reader' });
  await instance.query(
    `with me as (select id from agents where canonical_handle = 'counted.reader'),
       one as (select event_id from feed join me on agent_id = me.id limit 1),
       more as (insert into feed (agent_id, number, event_id)
         select me.id, n, one.event_id from me, one, generate_series(2, 150) n)
     update feed_heads set acknowledged_number = 0, last_number = 150 from me where agent_id = me.id`,
    [],
  );
  const seenWith = async (...scopes: Scope[]) => metaOf(await instance.token('counted.reader', { scopes }));
  expect(await seenWith('threads:read')).toMatchObject({ pending_events: 100 });
  expect(await seenWith('contacts:read')).toMatchObject({ pending_events: 0 });
  expect(await seenWith('threads:write')).toBeUndefined();
});

test('events that retention removed are no longer counted', async () => {
  const writer = await instance.token('retained.writer');
  const reader = await instance.token('retained.reader');
  const send = async (thread_id: unknown, content: string) =>
    callToolRaw(instance.url, writer, 'send_message', { thread_id, content });
  const { value } = await callToolRaw(instance.url, writer, 'create_thread', {
    with_handle: 'retained.reader',
  });
  await send(value['id'], 'one');
  const { cursor } = Object(await metaOf(reader));
  await callToolRaw(instance.url, reader, 'acknowledge_events', { cursor });
  for (const content of ['two', 'three']) await send(value['id'], content);
  expect(await metaOf(reader)).toMatchObject({ pending_events: 2 });
  await removeOldFeeds(instance.db, { now: Date.now() + 31 * 24 * 3_600_000, days: 30 });
  expect(await metaOf(reader)).toMatchObject({ pending_events: 0 });
  expect(await metaOf(writer)).toMatchObject({ pending_events: 0 });
  await send(value['id'], 'four');
  expect(await metaOf(reader)).toMatchObject({ pending_events: 1 });
  const { value: kept } = await callToolRaw(instance.url, reader, 'wait_for_events', { wait_seconds: 0 });
  expect(kept['events']).toMatchObject([{ data: { content: 'four' } }]);
});

test('after a restore, events before and after the jump of the numbers are counted', async () => {
  const writer = await instance.token('restored.writer');
  const reader = await instance.token('restored.reader');
  const seesThreads = await instance.token('restored.reader', { scopes: ['threads:read'] });
  const send = async (thread_id: unknown, content: string) =>
    callToolRaw(instance.url, writer, 'send_message', { thread_id, content });
  const { value } = await callToolRaw(instance.url, writer, 'create_thread', {
    with_handle: 'restored.reader',
  });
  await send(value['id'], 'one');
  for (const token of [reader, seesThreads]) expect(await metaOf(token)).toMatchObject({ pending_events: 2 });
  // As feed_epoch.begin_range does for all feeds.
  await instance.query(
    `update feed_heads set ended_stretches = array[last_number], last_number = 1099511627776
     where agent_id = (select id from agents where canonical_handle = $1)`,
    ['restored.reader'],
  );
  await send(value['id'], 'two');
  for (const token of [reader, seesThreads]) expect(await metaOf(token)).toMatchObject({ pending_events: 3 });
});
