import { outcomeOf } from '../../clients/rest.ts';
import { expect, test } from 'vitest';
import { useSharedService } from '../../support/service.ts';
import { expireLeases, inboxOf, startWork, textsOf } from './setup.ts';

const service = useSharedService();

test('the settings have defaults, are changed by the next PUT, and end with DELETE', async () => {
  const agent = await service.agent();
  const inbox = inboxOf(service.api, agent);
  expect((await inbox.get()).body.error.code).toBe('INBOX_NOT_FOUND');
  const on = await inbox.turnOn();
  const defaults = {
    types: ['message.created'],
    lease_seconds: 60,
    max_attempts: 5,
    ordered_by_thread: true,
    ready: 0,
    leased: 0,
    dead: 0,
    oldest_age: null,
    consumers: [],
  };
  expect([on.status, on.body]).toEqual([200, expect.objectContaining(defaults)]);
  const changed = await inbox.turnOn({ types: ['message.created', 'contact.request'], max_attempts: 2 });
  expect(changed.body).toMatchObject({ max_attempts: 2, types: ['message.created', 'contact.request'] });
  expect(changed.body.created_at).toBe(on.body.created_at);
  expect((await inbox.get()).body).toEqual(changed.body);
  expect((await inbox.turnOff()).status).toBe(204);
  expect((await inbox.turnOff()).body.error.code).toBe('INBOX_NOT_FOUND');
  expect((await inbox.claim()).body.error.code).toBe('INBOX_NOT_FOUND');
});

test('each message of others becomes an item once, and an acknowledged item leaves the inbox', async () => {
  const { asker, worker, inbox, thread, send } = await startWork(service);
  const sent = [await send('one'), await send('own', thread, worker), await send('two')];
  expect((await inbox.get()).body).toMatchObject({ ready: 2, leased: 0, dead: 0 });
  const [first, ...others] = await inbox.leases({ max: 10, lease_seconds: 30, consumer: 'a' });
  expect(others).toEqual([]);
  expect(first).toMatchObject({
    id: expect.stringMatching(/^lse_[0-9A-HJKMNP-TV-Z]{26}$/),
    attempt: 1,
    relationship: 'none',
    event: {
      type: 'message.created',
      data: { id: sent[0].id, sender: { id: asker.id }, content: 'one', sequence: 1 },
    },
  });
  expect(first?.expires_at).toBeGreaterThan(Date.now() + 20_000);
  // The cursor is that of the feed.
  const after = await service.get(worker, `/events?cursor=${first?.event.cursor}`);
  expect(after.body.events.map(({ data }: { data: { content: string } }) => data.content)).toEqual([
    'own',
    'two',
  ]);
  const state = await inbox.get();
  expect(state.body).toMatchObject({ ready: 1, leased: 1, dead: 0, consumers: [{ name: 'a', leased: 1 }] });
  expect(state.body.oldest_age).toBeGreaterThanOrEqual(0);
  expect(await inbox.leases()).toEqual([]);
  const done = await inbox.acknowledge(first?.id ?? '');
  expect([done.status, done.body]).toEqual([200, { message: null }]);
  const again = await inbox.acknowledge(first?.id ?? '');
  expect(outcomeOf(again)).toBe('409 LEASE_LOST');
  const [second] = await inbox.leases({ max: 10 });
  expect(second?.event.data.content).toBe('two');
  expect(second?.fencing_token).toBeGreaterThan(first?.fencing_token ?? 0);
});

test('an expired lease passes to the next claim, and its former holder can write nothing', async () => {
  const { asker, worker, inbox, thread, send } = await startWork(service, { max_attempts: 3 });
  await send('one');
  const [lost] = await inbox.leases();
  await expireLeases(service, worker);
  const [current] = await inbox.leases();
  expect(current).toMatchObject({ attempt: 2, event: { data: { content: 'one' } } });
  expect(current?.fencing_token).toBeGreaterThan(lost?.fencing_token ?? 0);
  const id = lost?.id ?? '';
  const refusals = [
    await inbox.renew(id),
    await inbox.acknowledge(id),
    await inbox.acknowledge(id, { reply: 'late' }),
    await inbox.release(id),
    await service.post(worker, `/threads/${thread}/messages`, { content: 'late', lease_id: id }),
  ];
  expect(refusals.map(({ status, body }) => `${status} ${body.error.code}`)).toEqual(
    Array.from({ length: 5 }, () => '409 LEASE_LOST'),
  );
  expect((await inbox.acknowledgeAll([id, current?.id ?? ''])).body.results).toEqual([
    { id, result: 'lost' },
    { id: current?.id, result: 'acknowledged' },
  ]);
  const messages = await service.get(asker, `/threads/${thread}/messages`);
  expect(messages.body.messages.map(({ content }: { content: string }) => content)).toEqual(['one']);
});

test('an expired lease is lost even if no other instance has the item', async () => {
  const { worker, inbox, send } = await startWork(service);
  await send('one');
  const [lease] = await inbox.leases();
  await expireLeases(service, worker);
  expect((await inbox.acknowledge(lease?.id ?? '', { reply: 'late' })).body.error.code).toBe('LEASE_LOST');
  expect((await inbox.renew(lease?.id ?? '')).body.error.code).toBe('LEASE_LOST');
});

test('a lease can be renewed, and a send can be bound to it', async () => {
  const { worker, inbox, thread, send } = await startWork(service);
  await send('one');
  const [lease] = await inbox.leases({ lease_seconds: 5 });
  const id = lease?.id ?? '';
  const renewed = await inbox.renew(id, 3_600);
  expect(renewed.body).toMatchObject({ id, attempt: 1, fencing_token: lease?.fencing_token });
  expect(renewed.body.expires_at).toBeGreaterThan(Date.now() + 3_000_000);
  const sent = await service.post(worker, `/threads/${thread}/messages`, {
    content: 'in progress',
    lease_id: id,
  });
  expect(sent.status).toBe(201);
  expect((await inbox.acknowledge(id)).status).toBe(200);
});

test('an acknowledgement with a reply does both, once for each key', async () => {
  const { asker, worker, inbox, thread, send } = await startWork(service);
  const question = await send('when?');
  const [lease] = await inbox.leases();
  const body = { reply: { content: '**now**', content_type: 'markdown', metadata: { a: 1 } } };
  const key = crypto.randomUUID();
  const [first, second] = [
    await inbox.acknowledge(lease?.id ?? '', body, { key }),
    await inbox.acknowledge(lease?.id ?? '', body, { key }),
  ];
  expect(first.body.message).toMatchObject({
    content: '**now**',
    reply_to: question.id,
    sender: { id: worker.id },
    sequence: 2,
  });
  expect(second.text).toBe(first.text);
  expect(second.headers.get('idempotency-replayed')).toBe('true');
  const messages = await service.get(asker, `/threads/${thread}/messages`);
  expect(messages.body.messages).toHaveLength(2);
  expect((await inbox.get()).body).toMatchObject({ ready: 0, leased: 0 });
});

test('a reply that is refused leaves the lease as it was', async () => {
  const { asker, inbox, thread, send } = await startWork(service);
  await send('one');
  const [lease] = await inbox.leases();
  const close = await service.patch(asker, `/threads/${thread}`, { status: 'closed' });
  expect(close.status).toBe(200);
  const refused = await inbox.acknowledge(lease?.id ?? '', { reply: 'x' });
  expect(outcomeOf(refused)).toBe('403 THREAD_CLOSED');
  expect((await inbox.get()).body).toMatchObject({ ready: 0, leased: 1 });
  expect((await inbox.acknowledge(lease?.id ?? '')).status).toBe(200);
});

test('a released item is ready after its delay, and dead after its last attempt until it is redriven', async () => {
  const { inbox, send } = await startWork(service, { max_attempts: 2 });
  await send('one');
  const [first] = await inbox.leases({ consumer: 'a' });
  const delayed = await inbox.release(first?.id ?? '', { delay_seconds: 1, reason: 'busy' });
  expect(delayed.body).toMatchObject({ state: 'ready', attempts: 1 });
  // Not before its time: the claim waits for it.
  const [second] = await inbox.leases({ wait_seconds: 20 });
  expect(Date.now()).toBeGreaterThanOrEqual(delayed.body.ready_at);
  expect(second?.attempt).toBe(2);
  const last = await inbox.release(second?.id ?? '', { reason: 'broken' });
  expect(last.body).toMatchObject({ state: 'dead', attempts: 2 });
  expect(await inbox.leases()).toEqual([]);
  const { items } = (await inbox.dead()).body;
  expect(items).toEqual([
    expect.objectContaining({
      id: first?.event.id,
      attempts: 2,
      reasons: [
        expect.objectContaining({ attempt: 1, outcome: 'released', reason: 'busy', consumer: 'a' }),
        expect.objectContaining({ attempt: 2, outcome: 'released', reason: 'broken', consumer: 'operator' }),
      ],
      event: first?.event,
    }),
  ]);
  expect((await inbox.redrive(items[0].id)).status).toBe(204);
  expect((await inbox.redrive(items[0].id)).body.error.code).toBe('NOT_FOUND');
  expect((await inbox.leases())[0]).toMatchObject({ attempt: 1, event: { data: { content: 'one' } } });
});

test('an item that expired max_attempts times is dead, and can be deleted', async () => {
  const { worker, inbox, send } = await startWork(service, { max_attempts: 1 });
  await send('one');
  await send('two');
  await inbox.leases();
  await expireLeases(service, worker);
  expect(textsOf(await inbox.leases())).toEqual(['two']);
  const [item] = (await inbox.dead('?limit=1')).body.items;
  expect(item).toMatchObject({ attempts: 1, reasons: [{ outcome: 'expired', reason: null }] });
  expect((await inbox.remove(item.id)).status).toBe(204);
  expect((await inbox.remove(item.id)).body.error.code).toBe('NOT_FOUND');
  expect((await inbox.dead()).body.items).toEqual([]);
});

test('dead items come in pages', async () => {
  const { inbox, send, openThread } = await startWork(service, { max_attempts: 1 });
  for (const text of ['a', 'b', 'c']) await send(text, await openThread());
  for (const { id } of await inbox.leases({ max: 100 })) await inbox.release(id, { reason: 'x' });
  const page = (await inbox.dead('?limit=2')).body;
  const rest = (await inbox.dead(`?limit=2&cursor=${page.next_cursor}`)).body;
  const texts = [...page.items, ...rest.items].map(({ event }) => event.data.content);
  expect([texts, rest.next_cursor]).toEqual([['a', 'b', 'c'], undefined]);
});

test('"from" begins at a cursor of the feed, or now', async () => {
  const { worker, inbox, send } = await startWork(service);
  await send('one');
  const { events } = (await service.get(worker, '/events?cursor=earliest')).body;
  await send('two');
  expect((await inbox.turnOn({ from: 'now' })).body.ready).toBe(0);
  expect(await inbox.leases()).toEqual([]);
  expect((await inbox.turnOn({ from: events.at(-1).cursor })).body.ready).toBe(1);
  expect(textsOf(await inbox.leases())).toEqual(['two']);
  expect((await inbox.turnOn({ from: 'x.y' })).body.error.code).toBe('INVALID_CURSOR');
});

test('from "earliest" begins at the oldest stored event', async () => {
  const { inbox, send } = await startWork(service);
  for (const text of ['one', 'two']) await send(text);
  await inbox.turnOn({ from: 'now' });
  expect(await inbox.leases()).toEqual([]);
  await inbox.turnOn({ from: 'earliest', ordered_by_thread: false });
  expect(textsOf(await inbox.leases({ max: 100 }))).toEqual(['one', 'two']);
});

test('a waiting claim gets a new message, and a released item, at once', async () => {
  const { inbox, send } = await startWork(service);
  const waiting = inbox.leases({ wait_seconds: 20 });
  await send('one');
  const [lease] = await waiting;
  expect(lease?.event.data.content).toBe('one');
  const next = inbox.leases({ wait_seconds: 20 });
  const successor = send('two');
  await inbox.release(lease?.id ?? '');
  const [again] = await next;
  await successor;
  expect([again?.attempt, again?.event.data.content]).toEqual([2, 'one']);
  const last = inbox.leases({ wait_seconds: 20 });
  await inbox.acknowledge(again?.id ?? '');
  expect(textsOf(await last)).toEqual(['two']);
});
