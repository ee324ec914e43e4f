import fc from 'fast-check';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { Bus } from '../../../src/platform/bus/bus.ts';
import { packMessage } from '../../../src/platform/bus/payloads.ts';
import { createEventRelay, type RelayedCommit } from '../../../src/work/event-relay.ts';
import { createLocalBus } from '../realtime/local-bus.ts';
import { useFakeTimers } from '../../support/fake-timers.ts';

const secret = 'a secret that all processes of the service have';
const topic = 'events/1.0.0';

beforeEach(useFakeTimers);

/** Two processes on one bus. The other one has readers. */
async function setUp({ bus = createLocalBus().bus, version = '1.0.0', other_secret = secret } = {}) {
  const received: RelayedCommit[] = [];
  const sender = createEventRelay({ bus, secrets: [secret], version: '1.0.0' });
  const receiver = createEventRelay({ bus, secrets: [other_secret], version });
  const onOwn = vi.fn<(commit: RelayedCommit) => void>();
  await sender.start({ hasReaders: () => false, onCommit: onOwn });
  const stop = await receiver.start({
    hasReaders: () => true,
    onCommit: (commit) => void received.push(commit),
  });
  await vi.advanceTimersByTimeAsync(3_000);
  return { bus, sender, received, onOwn, stop };
}

function buildCommit(recipients: readonly string[], text = 'hello', number = 1): RelayedCommit {
  const id = `evt_${number}`;
  const data = { agent_id: 'agt_9', canonical_handle: text };
  return {
    events: [
      { id, type: 'contact.removed', thread_id: null, data, created_at: 5, message: null, traceparent: null },
    ],
    entries: recipients.map((agent_id) => ({ agent_id, number, event_id: id })),
  };
}

/** Resolves when the messages have reached every process. */
async function deliver(bus: Bus, relay: { pack: (commits: RelayedCommit[]) => { body: string }[] }) {
  const messages = relay.pack([buildCommit(['agt_1'])]);
  await bus.publish(messages.map(({ body }) => ({ topic, body })));
  return messages;
}

test('another process receives the events and entries of commits, in their order', async () => {
  const { bus, sender, received, onOwn } = await setUp();
  const commits = [1, 2, 3].map((number) => buildCommit(['agt_1', 'agt_2'], `text ${number}`, number));
  await bus.publish(sender.pack(commits));
  expect(received.flatMap(({ events }) => events)).toEqual(commits.flatMap(({ events }) => events));
  expect(received.flatMap(({ entries }) => entries)).toEqual(commits.flatMap(({ entries }) => entries));
  expect(onOwn).not.toHaveBeenCalled();
});

test('a process sends nothing until another one has readers, and soon after that one has stopped', async () => {
  const { bus } = createLocalBus();
  const alone = createEventRelay({ bus, secrets: [secret], version: '1.0.0' });
  await alone.start({ hasReaders: () => true, onCommit: () => undefined });
  await vi.advanceTimersByTimeAsync(10_000);
  expect(alone.pack([buildCommit(['agt_1'])])).toEqual([]);
  const { sender, stop } = await setUp({ bus });
  expect(alone.pack([buildCommit(['agt_1'])])).toHaveLength(1);
  await stop();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(alone.pack([buildCommit(['agt_1'])])).toEqual([]);
  expect(sender.pack([buildCommit(['agt_1'])]), 'the first process still has readers').toHaveLength(1);
});

test('events of large threads, large events, and very many events stay in the database', async () => {
  const { bus, sender, received } = await setUp();
  const tooMany = buildCommit(['a', 'b', 'c', 'd', 'e'], 'five recipients', 1);
  const tooLarge = buildCommit(['a'], 'é'.repeat(2_048), 2);
  const small = buildCommit(['a', 'b', 'c', 'd'], 'small', 3);
  await bus.publish(sender.pack([tooMany, tooLarge, small]));
  expect(received).toEqual([small]);
  expect(sender.pack(Array.from({ length: 201 }, (_, at) => buildCommit(['a'], '', at)))).toEqual([]);
});

test('every message fits into a notification, whatever the events contain', async () => {
  const { bus, sender, received } = await setUp();
  const texts = fc.array(fc.string({ unit: 'binary', maxLength: 1_500 }), { maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(texts, async (contents) => {
      received.length = 0;
      const commits = contents.map((text, at) => buildCommit(['agt_1', 'agt_2'], text, at + 1));
      const messages = sender.pack(commits);
      for (const message of messages) expect(() => packMessage(message)).not.toThrow();
      await bus.publish(messages);
      const fitting = commits.filter(({ events }) => Buffer.byteLength(JSON.stringify(events)) < 3_900);
      const ids = new Set(received.flatMap(({ events }) => events.map(({ id }) => id)));
      expect(fitting.every(({ events }) => ids.has(events[0]?.id ?? ''))).toBe(true);
    }),
    { numRuns: 50 },
  );
});

describe('a process ignores', () => {
  test('messages of another release', async () => {
    const { bus, sender, received, onOwn } = await setUp({ version: '0.9.0' });
    expect(sender.pack([buildCommit(['agt_1'])]), 'it did not see the announcement').toEqual([]);
    await bus.publish([{ topic: 'events/0.9.0', body: 'someone' }]);
    expect([received, onOwn.mock.calls]).toEqual([[], []]);
  });

  test('messages that were sealed with another secret', async () => {
    const { bus, sender, received } = await setUp({ other_secret: 'another secret' });
    expect(await deliver(bus, sender)).toHaveLength(1);
    expect(received).toEqual([]);
  });

  test('messages that are older than two seconds, or from the future', async () => {
    const { bus, sender, received } = await setUp();
    const messages = sender.pack([buildCommit(['agt_1'])]);
    vi.setSystemTime(Date.now() + 2_001);
    await bus.publish(messages);
    vi.setSystemTime(Date.now() - 4_002);
    await bus.publish(messages);
    expect(received).toEqual([]);
    vi.setSystemTime(Date.now() + 2_001);
    await bus.publish(messages);
    expect(received, 'in time').toHaveLength(1);
  });

  test('what no process of the service has sent', async () => {
    const { bus, sender, received } = await setUp();
    const [message] = sender.pack([buildCommit(['agt_1'])]);
    const [from = '', sealed = ''] = message?.body.split(' ') ?? [];
    const bytes = Buffer.from(sealed, 'base64');
    const flipped = Buffer.from(bytes);
    flipped[40] = (flipped[40] ?? 0) ^ 1;
    const plain = Buffer.from(`{"sent_at":${Date.now()},"events":[]}`).toString('base64');
    const forged = [
      '',
      ' ',
      'someone',
      `${from} `,
      `${from} garbage`,
      `${from} ${plain}`,
      `${from} ${flipped.toString('base64')}`,
      `${from} ${sealed.slice(0, 100)}`,
      `someone ${sealed}`,
      `${from}  ${sealed}`,
    ];
    await bus.publish(forged.map((body) => ({ topic, body })));
    await fc.assert(
      fc.asyncProperty(fc.string({ maxLength: 200 }), (body) => bus.publish([{ topic, body }])),
    );
    expect(received).toEqual([]);
  });
});
