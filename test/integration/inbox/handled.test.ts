import { expect, test, vi } from 'vitest';
import { followFeed } from '../../clients/feed.ts';
import type { requestRest } from '../../clients/rest.ts';
import { moveHandledMarks, recordHandled } from '../../../src/services/inbox/handled.ts';
import { type TestAgent, useSharedService } from '../../support/service.ts';
import { expireLeases, startWork } from './setup.ts';

const service = useSharedService();

/** Makes the items of an agent handled, as if the process that acknowledged them had died. */
async function handleItems({ id }: TestAgent): Promise<void> {
  const text = `update inbox_items set state = 'handled', fencing_token = null, expires_at = null, updated_at = $2 where agent_id = $1`;
  await service.sql(text, [id, Date.now() - 10_000]);
}

/** Follows the receipts about inboxes in the feed of an agent. */
async function followHandled({ token }: TestAgent) {
  const next = await followFeed(service.api, token);
  return async (count: number) => {
    const events: { type: string; up_to: number; by: string; thread_id: string }[] = [];
    await vi.waitFor(async () => {
      for (const { type, data } of await next()) {
        if (type !== 'message.handled' && type !== 'message.read') continue;
        const { up_to_sequence: up_to, agent, thread_id } = data;
        events.push({ type, up_to, by: agent.canonical_handle, thread_id });
      }
      expect(events.length).toBeGreaterThanOrEqual(count);
    }, 20_000);
    return events;
  };
}

async function readReceipt({ token }: TestAgent, thread: string, { id }: TestAgent) {
  const { body } = await service.get({ token }, `/threads/${thread}/receipts`);
  return body.receipts.find(({ agent }: { agent: { id: string } }) => agent.id === id);
}

test('an acknowledged message is handled and read, with one event for a batch', async () => {
  const { asker, worker, inbox, thread, send } = await startWork(service, { ordered_by_thread: false });
  for (const text of ['one', 'two', 'three']) await send(text);
  const events = await followHandled(asker);
  const leases = await inbox.leases({ max: 10 });
  await inbox.acknowledgeAll(leases.map(({ id }) => id));
  const about = { up_to: 3, by: worker.handle, thread_id: thread };
  expect(await events(2)).toEqual([
    { type: 'message.read', ...about },
    { type: 'message.handled', ...about },
  ]);
  expect(await readReceipt(asker, thread, worker)).toEqual({
    agent: { id: worker.id, canonical_handle: worker.handle },
    delivered_up_to_sequence: 3,
    read_up_to_sequence: 3,
    handled_up_to_sequence: 3,
  });
  const mine = await service.get(worker, `/threads/${thread}`);
  expect(mine.body.unread_count).toBe(0);
});

test('the mark stays before a message that is not handled, and passes it later', async () => {
  const { asker, worker, inbox, thread, send } = await startWork(service, { ordered_by_thread: false });
  for (const text of ['one', 'two', 'three']) await send(text);
  const events = await followHandled(asker);
  const [one, two, three] = await inbox.leases({ max: 10 });
  await inbox.acknowledgeAll([three?.id ?? '']);
  await moveHandledMarks(service.core.unitOfWork, [worker.id]);
  expect((await readReceipt(asker, thread, worker)).handled_up_to_sequence).toBe(0);
  await inbox.acknowledge(one?.id ?? '');
  await moveHandledMarks(service.core.unitOfWork, [worker.id]);
  expect((await readReceipt(asker, thread, worker)).handled_up_to_sequence).toBe(1);
  await inbox.acknowledge(two?.id ?? '');
  const seen = await events(4);
  expect(seen.filter(({ type }) => type === 'message.handled').map(({ up_to }) => up_to)).toEqual([1, 3]);
  expect(await service.sql('select 1 from inbox_items where agent_id = $1', [worker.id])).toEqual([]);
});

test('a dead message is not handled until it is redriven and acknowledged, or deleted', async () => {
  const { asker, worker, inbox, thread, send } = await startWork(service, { max_attempts: 1 });
  await send('one');
  await send('two');
  await inbox.leases();
  await expireLeases(service, worker);
  const [second] = await inbox.leases();
  await inbox.acknowledge(second?.id ?? '');
  await moveHandledMarks(service.core.unitOfWork, [worker.id]);
  expect((await readReceipt(asker, thread, worker)).handled_up_to_sequence).toBe(0);
  const [item] = (await inbox.dead()).body.items;
  expect((await inbox.remove(item.id)).status).toBe(204);
  await moveHandledMarks(service.core.unitOfWork, [worker.id]);
  expect((await readReceipt(asker, thread, worker)).handled_up_to_sequence).toBe(2);
});

test('messages that are handled after a dead one do not add up', async () => {
  const { asker, worker, inbox, thread, send } = await startWork(service, { max_attempts: 1 });
  await send('one');
  await inbox.leases();
  await expireLeases(service, worker);
  for (const text of ['two', 'three', 'four']) {
    await send(text);
    const [lease] = await inbox.leases();
    expect((await inbox.acknowledge(lease?.id ?? '')).status).toBe(200);
    await moveHandledMarks(service.core.unitOfWork, [worker.id]);
  }
  const rows = 'select sequence, state from inbox_items where agent_id = $1 order by sequence';
  const left = await service.sql(rows, [worker.id]);
  expect(left).toEqual([
    { sequence: 1, state: 'dead' },
    { sequence: 4, state: 'recorded' },
  ]);
  const [item] = (await inbox.dead()).body.items;
  expect((await inbox.remove(item.id)).status).toBe(204);
  await moveHandledMarks(service.core.unitOfWork, [worker.id]);
  expect((await readReceipt(asker, thread, worker)).handled_up_to_sequence).toBe(4);
});

test('marks of a process that died are moved by maintenance', async () => {
  const { asker, worker, inbox, thread, send } = await startWork(service);
  await send('one');
  const [lease] = await inbox.leases();
  await handleItems(worker);
  expect((await inbox.acknowledge(lease?.id ?? '')).body.error.code).toBe('LEASE_LOST');
  await moveHandledMarks(service.core.unitOfWork, null, 5_000);
  expect((await readReceipt(asker, thread, worker)).handled_up_to_sequence).toBe(1);
});

test('an agent that is added while a mark moves joins after its events', async () => {
  const { asker, worker, inbox, thread, send } = await startWork(service);
  await send('one');
  await inbox.leases();
  await handleItems(worker);
  const { token } = asker;
  const next = await followFeed(service.api, token);
  const added = await service.agent();
  let adding: ReturnType<typeof requestRest> | undefined;
  await service.write(async (work) => {
    await recordHandled(work, [worker.id], 0);
    let isAdded = false;
    adding = service
      .post({ token }, `/threads/${thread}/members`, { handle: added.handle })
      .finally(() => (isAdded = true));
    const text = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database() and query like '%thread_members%'`;
    const isWaiting = async () => isAdded || (await service.sql(text)).length > 0;
    await expect.poll(isWaiting).toBe(true);
  });
  expect((await adding)?.status).toBe(201);
  const types = ['message.read', 'message.handled', 'thread.member_added'];
  const seen: string[] = [];
  await vi.waitFor(async () => {
    for (const { type } of await next()) if (types.includes(type)) seen.push(type);
    expect(seen).toHaveLength(types.length);
  }, 20_000);
  expect(seen).toEqual(types);
});

test('acknowledged items are recorded when the inbox is turned off', async () => {
  const { asker, worker, inbox, thread, send } = await startWork(service);
  await send('one');
  const [lease] = await inbox.leases();
  await inbox.acknowledge(lease?.id ?? '');
  expect((await inbox.turnOff()).status).toBe(204);
  expect((await readReceipt(asker, thread, worker)).handled_up_to_sequence).toBe(1);
});

test('own messages between those of others stay counted as own', async () => {
  const { asker, worker, inbox, thread, send } = await startWork(service);
  await send('one');
  await send('own', thread, worker);
  await send('two');
  const unread = async () => (await service.get(worker, `/threads/${thread}`)).body.unread_count;
  expect(await unread()).toBe(2);
  const [lease] = await inbox.leases();
  await inbox.acknowledge(lease?.id ?? '');
  await moveHandledMarks(service.core.unitOfWork, [worker.id]);
  expect([await unread(), (await readReceipt(asker, thread, worker)).handled_up_to_sequence]).toEqual([1, 2]);
});
