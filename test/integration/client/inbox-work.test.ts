import { expect, test } from 'vitest';
import { hostname } from 'node:os';
import { createClient, type WorkOptions } from '../../../packages/client/src/main.ts';
import { nameInstance } from '../../../packages/client/src/node/client.ts';
import { useSharedService } from '../../support/service.ts';
import { reviewsOf } from '../reviews/setup.ts';
import { clientOf, range, sendNumbers, startConversation } from './setup.ts';

const service = useSharedService();

/** A conversation whose second agent has an inbox, and a way to start instances of it. */
async function startInbox() {
  const talk = await startConversation(service);
  await talk.asBob.inbox.set({ lease_seconds: 5 });
  const stop = new AbortController();
  const instances: Promise<void>[] = [];
  return {
    ...talk,
    start(options: Omit<WorkOptions, 'signal'>) {
      const instance = talk.asBob.inbox.work({ leaseSeconds: 5, signal: stop.signal, ...options });
      instance.catch(() => undefined); // stop() rejects with it
      instances.push(instance);
    },
    async stop() {
      stop.abort();
      await Promise.all(instances);
    },
  };
}

test('instances handle each item once and answer with the acknowledgement', async () => {
  const { bob, asAda, start, stop } = await startInbox();
  const threads = await Promise.all(
    range(1, 6).map(async () => (await asAda.threads.create({ with_handle: bob.handle })).id),
  );
  const handled: string[] = [];
  for (const consumer of ['one', 'two']) {
    start({
      consumer,
      concurrency: 2,
      async handler({ event }) {
        if (event.type !== 'message.created') throw new Error(`unexpected: ${event.type}`);
        handled.push(event.data.id);
        return `done ${event.data.content}`;
      },
    });
  }
  await Promise.all(threads.map((thread_id) => sendNumbers(asAda, thread_id, 1, 4)));
  await expect.poll(() => handled.length).toBe(24);
  await stop();
  expect(new Set(handled).size).toBe(24);
  for (const thread_id of threads) {
    const contents: string[] = [];
    for await (const { content } of asAda.messages.list({ thread_id })) contents.push(content);
    const expected = range(1, 4).flatMap((number) => [`${number}`, `done ${number}`]);
    expect(contents.toSorted()).toEqual(expected.toSorted());
  }
});

test('an item whose handler throws is handled again, with its reason', async () => {
  const { asAda, asBob, thread_id, start, stop } = await startInbox();
  const attempts: number[] = [];
  const errors: unknown[] = [];
  start({
    async handler({ attempt }) {
      attempts.push(attempt);
      if (attempt === 1) throw new Error('not yet');
    },
    onError: (error, lease) => errors.push([error, lease?.attempt]),
  });
  await sendNumbers(asAda, thread_id, 1, 1);
  await expect.poll(() => attempts).toEqual([1, 2]);
  await stop();
  expect(errors).toEqual([[new Error('not yet'), 1]]);
  expect(await asBob.inbox.get()).toMatchObject({ ready: 0, leased: 0, dead: 0 });
});

test('a reply that a person reviews is no error, and a lost lease is one', async () => {
  const { bob, asAda, asBob, thread_id, start, stop } = await startInbox();
  await reviewsOf(service).setPolicy(bob, 'review_all');
  const errors: unknown[] = [];
  start({
    async handler({ id, event }) {
      const isLost = event.type === 'message.created' && event.data.content === '2';
      if (isLost) await asBob.inbox.releaseMessage({ lease_id: id, delay_seconds: 3_600 });
      return 'Done.';
    },
    onError: (error) => errors.push(error),
  });
  await sendNumbers(asAda, thread_id, 1, 1);
  await expect.poll(async () => (await asBob.inbox.get()).in_review).toBe(1);
  const { id: other } = await asAda.threads.create({ with_handle: bob.handle });
  await sendNumbers(asAda, other, 2, 2);
  await expect.poll(() => errors.length).toBe(1);
  await stop();
  expect(errors).toEqual([expect.objectContaining({ code: 'LEASE_LOST' })]);
});

test('a lease is renewed while its handler runs, and a lost one aborts its signal', async () => {
  const { asAda, asBob, thread_id, start, stop } = await startInbox();
  const expiries: number[] = [];
  const lost: unknown[] = [];
  start({
    async handler({ id, expires_at }, signal) {
      expiries.push(expires_at);
      const aborted = new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve(signal.reason));
      });
      // Longer than the first renewal; then the inbox is turned off, which ends its leases.
      const { expires_at: renewed } = await asBob.inbox.renewLease({ lease_id: id, lease_seconds: 5 });
      expiries.push(renewed);
      await asBob.inbox.delete();
      lost.push(await aborted);
    },
  });
  await sendNumbers(asAda, thread_id, 1, 1);
  await expect.poll(() => lost.length).toBe(1);
  expect(lost[0]).toMatchObject({
    code: expect.stringMatching(/LEASE_LOST|LEASE_NOT_FOUND|INBOX_NOT_FOUND/),
  });
  expect(expiries[1]).toBeGreaterThanOrEqual(expiries[0] ?? Infinity);
  await stop().catch((error: unknown) => expect(error).toMatchObject({ code: 'INBOX_NOT_FOUND' }));
});

test('a handler whose service is out of reach stops when another instance can get its item', async () => {
  const { bob, asAda, thread_id, start, stop } = await startInbox();
  const attempts: number[] = [];
  const lost: unknown[] = [];
  const ended = new AbortController();
  const asBob = clientOf(service, bob, {
    fetch: (url, init) =>
      attempts.length > 0 ? Promise.reject(new TypeError('fetch failed')) : fetch(url, init),
  });
  const work = asBob.inbox.work({
    leaseSeconds: 5,
    signal: ended.signal,
    async handler({ attempt }, signal) {
      attempts.push(attempt);
      await new Promise((resolve) => {
        signal.addEventListener('abort', resolve);
      });
      lost.push(signal.reason);
    },
  });
  await sendNumbers(asAda, thread_id, 1, 1);
  await expect.poll(() => lost).toEqual([expect.objectContaining({ code: 'LEASE_LOST' })]);
  ended.abort();
  start({
    async handler({ attempt }) {
      attempts.push(attempt);
    },
  });
  await expect.poll(() => attempts).toEqual([1, 2]);
  await Promise.all([work, stop()]);
});

test('a short timeout of the client does not end a wait for items', async () => {
  const { bob, asBob } = await startConversation(service);
  await asBob.inbox.set({});
  const ended = new AbortController();
  const errors: unknown[] = [];
  let claims = 0;
  const client = clientOf(service, bob, {
    timeoutMs: 500,
    async fetch(url, init) {
      const response = await fetch(url, init);
      claims += 1;
      return response;
    },
  });
  const work = client.inbox.work({
    leaseSeconds: 5,
    signal: ended.signal,
    handler: async () => undefined,
    onError: (error) => errors.push(error),
  });
  await expect.poll(() => claims + errors.length).toBeGreaterThan(0);
  ended.abort();
  await work;
  expect(errors).toEqual([]);
});

test('without a name, the inbox lists the host and the process, or a random name in browsers', async () => {
  const { bob, asBob, start, stop } = await startInbox();
  const names = async () => (await asBob.inbox.get()).consumers.map(({ name }) => name);
  start({ handler: async () => undefined });
  await expect.poll(names).toEqual([`${hostname()}-${process.pid}`]);
  const ended = new AbortController();
  const { inbox } = createClient({ url: service.url, auth: bob.token });
  const work = inbox.work({ handler: async () => undefined, signal: ended.signal });
  await expect.poll(names).toContainEqual(expect.stringMatching(/^client-[0-9a-f]{8}$/));
  ended.abort();
  await Promise.all([work, stop()]);
  expect(nameInstance('é'.repeat(80), 4_194_304)).toBe(`${'-'.repeat(56)}-4194304`);
});
