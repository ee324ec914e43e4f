import { expect, test } from 'vitest';
import { outcomeOf, requestRest } from '../../clients/rest.ts';
import { useSharedService } from '../../support/service.ts';
import { expireLeases, startWork, textsOf } from './setup.ts';

const service = useSharedService();

test('with order, at most one item of a thread is leased, and always the oldest', async () => {
  const { inbox, openThread, send } = await startWork(service);
  const other = await openThread();
  await send('a1');
  await send('a2');
  await send('b1', other);
  await send('b2', other);
  const [a, b, ...rest] = await inbox.leases({ max: 10 });
  expect([textsOf([a, b] as never), rest]).toEqual([['a1', 'b1'], []]);
  // A delayed item holds up its thread, not the others.
  await inbox.release(a?.id ?? '', { delay_seconds: 600 });
  await inbox.acknowledge(b?.id ?? '');
  expect(textsOf(await inbox.leases({ max: 10 }))).toEqual(['b2']);
});

test('without order, items of one thread are leased together', async () => {
  const { inbox, send } = await startWork(service, { ordered_by_thread: false });
  await send('a1');
  await send('a2');
  expect(textsOf(await inbox.leases({ max: 10 }))).toEqual(['a1', 'a2']);
});

test('a dead item does not block the next one; redriven, it waits for the leased one', async () => {
  const { worker, inbox, send } = await startWork(service, { max_attempts: 1 });
  await send('a1');
  await send('a2');
  await send('a3');
  const [dead] = await inbox.leases({ max: 10 });
  await expireLeases(service, worker);
  const [second, ...others] = await inbox.leases({ max: 10 });
  expect([second?.event.data.content, others]).toEqual(['a2', []]);
  await inbox.redrive(dead?.event.id);
  expect(await inbox.leases({ max: 10 })).toEqual([]);
  await inbox.acknowledge(second?.id ?? '');
  const [again] = await inbox.leases({ max: 10 });
  expect([again?.event.data.content, again?.attempt]).toEqual(['a1', 1]);
  await inbox.acknowledge(again?.id ?? '');
  expect(textsOf(await inbox.leases({ max: 10 }))).toEqual(['a3']);
});

test('items that wait for an older one of their thread count as ready, and are leased one by one', async () => {
  const { inbox, openThread, send } = await startWork(service);
  const other = await openThread();
  for (const text of ['a1', 'a2', 'a3']) await send(text);
  const [first, ...rest] = await inbox.leases({ max: 10 });
  expect([textsOf([first] as never), rest]).toEqual([['a1'], []]);
  expect((await inbox.get()).body).toMatchObject({ ready: 2, leased: 1 });
  // These come later, when others of their thread wait already, and when none do.
  await send('a4');
  await send('b1', other);
  expect((await inbox.get()).body).toMatchObject({ ready: 4, leased: 1 });
  await inbox.acknowledge(first?.id ?? '');
  const [second, b] = await inbox.leases({ max: 10 });
  expect(textsOf([second, b] as never)).toEqual(['a2', 'b1']);
  await inbox.acknowledgeAll([b?.id ?? '']);
  // An item that is given back is before those that wait.
  await inbox.release(second?.id ?? '');
  for (const text of ['a2', 'a3', 'a4']) {
    const [lease, ...none] = await inbox.leases({ max: 10 });
    expect([textsOf([lease] as never), none]).toEqual([[text], []]);
    await inbox.acknowledge(lease?.id ?? '');
  }
  expect((await inbox.get()).body).toMatchObject({ ready: 0, leased: 0 });
});

test('order can be turned off and on while items wait', async () => {
  const { inbox, send } = await startWork(service);
  for (const text of ['a1', 'a2', 'a3']) await send(text);
  const [first] = await inbox.leases({ max: 10 });
  await inbox.turnOn({ ordered_by_thread: false });
  const [second, third, ...none] = await inbox.leases({ max: 10 });
  expect([textsOf([first, second, third] as never), none]).toEqual([['a1', 'a2', 'a3'], []]);
  await inbox.turnOn({ ordered_by_thread: true });
  await send('a4');
  await send('a5');
  expect(await inbox.leases({ max: 10 })).toEqual([]);
  await inbox.release(third?.id ?? '');
  await inbox.acknowledgeAll([first?.id ?? '', second?.id ?? '']);
  for (const text of ['a3', 'a4', 'a5']) {
    const [lease, ...others] = await inbox.leases({ max: 10 });
    expect([textsOf([lease] as never), others]).toEqual([[text], []]);
    await inbox.acknowledge(lease?.id ?? '');
  }
});

test('items of a type that the settings no longer have stay, and block no others', async () => {
  const types = ['message.created', 'thread.updated'];
  const { asker, inbox, thread, send } = await startWork(service, { types });
  const subject = { token: asker.token, body: { subject: 'new' } };
  expect((await requestRest('PATCH', `${service.api}/threads/${thread}`, subject)).status).toBe(200);
  await send('a1');
  await send('a2');
  const [updated] = await inbox.leases({ max: 10 });
  await inbox.turnOn({ types: ['message.created'] });
  await inbox.release(updated?.id ?? '');
  const [again] = await inbox.leases({ max: 10 });
  expect([updated?.event.type, again?.event.id]).toEqual(['thread.updated', updated?.event.id]);
  await inbox.acknowledge(again?.id ?? '');
  expect(textsOf(await inbox.leases({ max: 10 }))).toEqual(['a1']);
});

test('an inbox that begins again at an earlier event has each item once, in order', async () => {
  const { worker, inbox, send } = await startWork(service);
  await send('a1');
  const earliest = await service.get(worker, '/events?cursor=earliest');
  for (const text of ['a2', 'a3']) await send(text);
  await inbox.turnOn({ from: 'now' });
  for (const text of ['a4', 'a5']) await send(text);
  const [lease] = await inbox.leases();
  expect(lease?.event.data.content).toBe('a4');
  await inbox.turnOn({ from: earliest.body.events.at(-1).cursor });
  await inbox.acknowledge(lease?.id ?? '');
  const seen: string[] = [];
  for (let next = await inbox.leases(); next.length > 0; next = await inbox.leases()) {
    seen.push(...textsOf(next));
    await inbox.acknowledgeAll(next.map(({ id }) => id));
  }
  expect(seen.filter((text) => text !== 'a5')).toEqual(['a2', 'a3']);
  expect(seen.toSorted()).toEqual(['a2', 'a3', 'a5']);
  expect((await inbox.get()).body).toMatchObject({ ready: 0, leased: 0 });
});

test('parallel claims of one process get each item once', async () => {
  const { inbox, openThread, send } = await startWork(service);
  const ids = await Promise.all(Array.from({ length: 20 }, openThread));
  await Promise.all(ids.map((id) => send('x', id)));
  const claimed = (await Promise.all(ids.map(() => inbox.leases({ max: 3 })))).flat();
  expect(new Set(claimed.map(({ event }) => event.id)).size).toBe(20);
  expect(claimed).toHaveLength(20);
  expect(new Set(claimed.map(({ fencing_token }) => fencing_token)).size).toBe(20);
});

test('an agent has at most a thousand leases', async () => {
  const { worker, inbox, send } = await startWork(service, { ordered_by_thread: false });
  const first = await send('x');
  await inbox.leases({ max: 1 });
  // As if it had claimed 998 others, and two were ready.
  const text = `insert into inbox_items (agent_id, number, event_id, event_type, thread_id, sequence, state, attempts, ready_at, fencing_token, expires_at, updated_at)
    select i.agent_id, i.number + n, i.event_id, i.event_type, i.thread_id, i.sequence, case when n > 998 then 'ready' else 'leased' end, 1, i.ready_at,
      case when n <= 998 then i.fencing_token - n end, case when n <= 998 then i.expires_at end, i.updated_at
    from inbox_items i, generate_series(1, 1000) n where i.agent_id = $1`;
  await service.sql(text, [worker.id]);
  const last = await inbox.leases({ max: 100 });
  expect(last.map(({ event }) => event.data.id)).toEqual([first.id]);
  const refused = await inbox.claim({ max: 100 });
  expect(outcomeOf(refused)).toBe('429 RATE_LIMITED');
  expect(refused.headers.get('retry-after')).toBe('1');
  await inbox.acknowledge(last[0]?.id ?? '');
  expect(await inbox.leases({ max: 100 })).toHaveLength(1);
});
