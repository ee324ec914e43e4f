import { expect, test } from 'vitest';
import { createClient, type Lease } from '../../../packages/client/src/main.ts';
import { fakeService } from '../../../packages/client/src/testing/main.ts';
import { stopAfterTest } from '../../support/use.ts';

/** Two agents with a thread; the second one has its inbox on. */
async function startWork(settings: { max_attempts?: number } = {}) {
  const service = stopAfterTest(await fakeService());
  const asker = service.agent('acme.asker');
  const worker = service.agent('acme.worker');
  const [asAsker, asWorker] = [asker, worker].map(({ token }) =>
    createClient({ url: service.url, auth: token }),
  );
  if (!asAsker || !asWorker) throw new Error('no clients');
  await asWorker.inbox.set(settings);
  const { id: thread_id } = await asAsker.threads.create({ with_handle: worker.handle });
  const send = (content: string) => asAsker.messages.send({ thread_id, content });
  return { service, worker, asWorker, asAsker, thread_id, send };
}

const refused = (code: string) => ({ code });

test('a lease expires when the clock moves, and a claim that waits gets the item', async () => {
  const { service, asWorker, send } = await startWork();
  await send('one');
  const { leases } = await asWorker.inbox.claimMessages({ lease_seconds: 60 });
  const [lost] = leases;
  if (!lost) throw new Error('nothing was claimed');
  service.clock.advance(59_999);
  expect((await asWorker.inbox.claimMessages({})).leases).toEqual([]);
  const waiting = asWorker.inbox.claimMessages({ wait_seconds: 20 });
  service.clock.advance(1);
  const [again] = (await waiting).leases;
  expect(again).toMatchObject({ attempt: 2, event: { id: lost.event.id } });
  expect(again?.fencing_token).toBeGreaterThan(lost.fencing_token);
  const { id: lease_id } = lost;
  await expect(asWorker.inbox.renewLease({ lease_id, lease_seconds: 60 })).rejects.toMatchObject(
    refused('LEASE_LOST'),
  );
  await expect(asWorker.inbox.acknowledgeMessage({ lease_id, reply: 'late' })).rejects.toMatchObject(
    refused('LEASE_LOST'),
  );
});

test('a delay ends when the clock moves', async () => {
  const { service, asWorker, send } = await startWork();
  await send('one');
  const [lease] = (await asWorker.inbox.claimMessages({})).leases;
  await asWorker.inbox.releaseMessage({ lease_id: lease?.id ?? '', delay_seconds: 3_600 });
  expect((await asWorker.inbox.claimMessages({})).leases).toEqual([]);
  service.clock.advance(3_600_000);
  expect((await asWorker.inbox.claimMessages({})).leases).toHaveLength(1);
});

test('the work loop of the client answers, and an item that fails is dead', async () => {
  const { asWorker, asAsker, thread_id, send } = await startWork({ max_attempts: 1 });
  for (const content of ['good', 'bad', 'last']) await send(content);
  const stop = new AbortController();
  const handled: string[] = [];
  const handler = async ({ event }: Lease) => {
    const { content } = event.data as { content: string };
    handled.push(content);
    if (content === 'last') stop.abort();
    if (content === 'bad') throw new Error('as told');
    return `done: ${content}`;
  };
  await asWorker.inbox.work({ handler, signal: stop.signal, onError: () => undefined });
  expect(handled).toEqual(['good', 'bad', 'last']);
  const { messages } = await asAsker.messages.list({ thread_id, order: 'asc' }).page();
  expect(messages.slice(3).map(({ content }) => content)).toEqual(['done: good', 'done: last']);
  expect(await asWorker.inbox.get()).toMatchObject({ ready: 0, leased: 0, dead: 1 });
});

test('a revoked token ends its leases, and the attempt does not count', async () => {
  const { service, worker, asWorker, send } = await startWork();
  await send('one');
  const token = service.token(worker.handle);
  const other = createClient({ url: service.url, auth: token });
  expect((await other.inbox.claimMessages({})).leases).toHaveLength(1);
  const waiting = other.inbox.claimMessages({ wait_seconds: 20 });
  service.revoke(token);
  await expect(waiting).rejects.toMatchObject(refused('UNAUTHORIZED'));
  expect((await asWorker.inbox.claimMessages({})).leases).toMatchObject([{ attempt: 1 }]);
});

test('items leave with their events, and the agent is told how many', async () => {
  const { service, worker, asWorker, send } = await startWork();
  for (const content of ['one', 'two']) await send(content);
  await asWorker.inbox.claimMessages({});
  service.removeEvents(worker.handle);
  expect(await asWorker.inbox.get()).toMatchObject({ ready: 0, leased: 0, dead: 0, oldest_age: null });
  const { events } = await (
    await fetch(`${service.url}/v1/events?cursor=earliest`, {
      headers: { Authorization: `Bearer ${worker.token}` },
    })
  ).json();
  expect(events).toMatchObject([{ type: 'inbox.expired', data: { count: 2 } }]);
});
