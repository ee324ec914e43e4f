import { expect, onTestFinished, test, vi } from 'vitest';
import type { FeedRange, MessageRef } from '../../../packages/core/src/domain/feed/receipts.ts';
import { createHandledMarks } from '../../../src/realtime/handled-marks.ts';
import { createReceipts, type ReceiptsParts } from '../../../src/realtime/receipts.ts';
import { waitUntil } from './setup.ts';
import { useFakeTimers } from '../../support/fake-timers.ts';

type Batch = Parameters<ReceiptsParts['write']>[0];

/** Receipts that keep what is written, and can be told to fail. */
function setUp(changes: Partial<ReceiptsParts> = {}) {
  const batches: Batch[] = [];
  const logged: string[] = [];
  const state = { failing: false };
  const receipts = createReceipts({
    async write(batch) {
      if (state.failing) throw new Error('the database is away');
      batches.push(batch);
    },
    log: (message) => void logged.push(message),
    batch_wait_ms: 20,
    ...changes,
  });
  const marks = () => batches.flatMap((batch) => batch.marks);
  return { receipts, batches, marks, logged, state };
}

const message = (sequence: number, thread_id = 't', sender_id = 'sender'): { message: MessageRef } => ({
  message: { thread_id, sender_id, sequence },
});
const rangeOf = (agent_id: string, after: number, upto: number): FeedRange => ({ agent_id, after, upto });

test('only the latest position of a mark is written, for any number of messages and transports', async () => {
  const { receipts, batches } = setUp();
  receipts.delivered('a', [message(1), message(2), message(3)]);
  receipts.delivered('a', [message(2)]);
  receipts.delivered('b', [message(1)]);
  await waitUntil(() => expect(batches).toHaveLength(1));
  expect(batches[0]?.marks).toEqual([
    { thread_id: 't', agent_id: 'a', sequence: 3 },
    { thread_id: 't', agent_id: 'b', sequence: 1 },
  ]);
});

test('own messages and other events cause no write', async () => {
  const { receipts, batches } = setUp();
  receipts.delivered('sender', [message(1), { message: null }]);
  await receipts.close();
  expect(batches).toEqual([]);
});

test('marks are written in time when the clock of the machine is set back', async () => {
  const readSystemTime = Date.now.bind(Date);
  const { receipts, batches } = setUp();
  receipts.delivered('a', [message(1)]);
  const system = vi.spyOn(Date, 'now').mockImplementation(() => readSystemTime() - 3_600_000);
  onTestFinished(() => system.mockRestore());
  await waitUntil(() => expect(batches).toHaveLength(1));
});

test('marks of a large thread wait longer, and are written together', async () => {
  await useFakeTimers();
  const { receipts, batches } = setUp({ batch_wait_ms: 1_000 });
  for (let agent = 0; agent < 100; agent += 1) receipts.delivered(`a${agent}`, [message(1, 'large')]);
  receipts.delivered('a', [message(1, 'small')]);
  await vi.advanceTimersByTimeAsync(1_300);
  expect(batches.map(({ marks }) => marks)).toEqual([[{ thread_id: 'small', agent_id: 'a', sequence: 1 }]]);
  receipts.delivered('a0', [message(2, 'large')]);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(batches).toHaveLength(2);
  expect(batches[1]?.marks).toHaveLength(100);
  expect(batches[1]?.marks[0]).toMatchObject({ agent_id: 'a0', sequence: 2 });
});

test('marks of a large thread are written at once before the limit of waiting marks is reached', async () => {
  await useFakeTimers();
  const { receipts, batches } = setUp({ batch_wait_ms: 1_000, capacity: 150 });
  for (let agent = 0; agent < 100; agent += 1) receipts.delivered(`a${agent}`, [message(1, 'large')]);
  await vi.advanceTimersByTimeAsync(1_300);
  expect(batches.map(({ marks }) => marks.length)).toEqual([100]);
});

test('acknowledged ranges of an agent are merged', async () => {
  const { receipts, batches } = setUp();
  receipts.acknowledged([rangeOf('a', 0, 4), rangeOf('b', 2, 3)]);
  receipts.acknowledged([rangeOf('a', 4, 9)]);
  await receipts.close();
  expect(batches).toEqual([{ marks: [], acknowledged: [rangeOf('a', 0, 9), rangeOf('b', 2, 3)] }]);
});

test('marks that cannot be written wait, together with later ones', async () => {
  const { receipts, batches, marks, logged, state } = setUp();
  state.failing = true;
  receipts.delivered('a', [message(5)]);
  receipts.acknowledged([rangeOf('b', 0, 4)]);
  await waitUntil(() => expect(logged).toHaveLength(1));
  receipts.delivered('a', [message(4), message(7)]);
  receipts.delivered('c', [message(1)]);
  state.failing = false;
  await waitUntil(() => expect(marks()).toHaveLength(2));
  expect(new Map(marks().map((mark) => [mark.agent_id, mark.sequence]))).toEqual(
    new Map([
      ['a', 7],
      ['c', 1],
    ]),
  );
  await receipts.close();
  expect(batches.flatMap((batch) => batch.acknowledged)).toEqual([rangeOf('b', 0, 4)]);
  expect(logged).toHaveLength(1);
});

test('closing writes the waiting marks after the current write, and accepts no more', async () => {
  let release: (() => void) | undefined;
  const written: number[] = [];
  const { receipts } = setUp({
    async write({ marks }) {
      written.push(...marks.map(({ sequence }) => sequence));
      if (written.length === 1) await new Promise<void>((resolve) => (release = resolve));
    },
  });
  receipts.delivered('a', [message(1)]);
  await waitUntil(() => expect(written).toEqual([1]));
  receipts.delivered('a', [message(2)]);
  const closed = receipts.close();
  receipts.delivered('a', [message(3)]);
  release?.();
  await closed;
  expect(written).toEqual([1, 2]);
});

test.each([
  [
    'receipts',
    (write: () => Promise<void>, log: () => void) => {
      const receipts = createReceipts({ write, log });
      receipts.delivered('a', [message(1)]);
      return receipts;
    },
  ],
  [
    'handled marks',
    (write: () => Promise<void>, log: () => void) => {
      const marks = createHandledMarks({ write, log });
      marks.add(['a']);
      return marks;
    },
  ],
])('%s: a write that waits for a lock does not delay the stop for long', async (_, create) => {
  await useFakeTimers();
  const write = vi.fn(() => new Promise<void>(() => undefined));
  const log = vi.fn();
  const closed = create(write, log).close();
  await vi.advanceTimersByTimeAsync(2_000);
  await closed;
  expect([write.mock.calls.length, log.mock.calls.length]).toEqual([1, 1]);
});

test('large batches are split, but never within a thread', async () => {
  const { receipts, batches } = setUp();
  for (let thread = 0; thread < 5; thread += 1)
    for (let agent = 0; agent < 256; agent += 1) receipts.delivered(`a${agent}`, [message(1, `t${thread}`)]);
  await receipts.close();
  expect(batches.map(({ marks }) => marks.length)).toEqual([512, 512, 256]);
  for (const { marks } of batches) expect(marks.length % 256).toBe(0);
});

test('ranges are split by the number of their entries', async () => {
  const { receipts, batches } = setUp();
  receipts.acknowledged(Array.from({ length: 12 }, (_, index) => rangeOf(`a${index}`, 0, 1_000_000)));
  receipts.acknowledged(Array.from({ length: 100 }, (_, index) => rangeOf(`b${index}`, 5, 6)));
  await receipts.close();
  expect(batches.map(({ acknowledged }) => acknowledged.length)).toEqual([5, 5, 102]);
});

test('the number of waiting marks is limited while nothing can be written', async () => {
  const { receipts, marks, state } = setUp({ capacity: 3, batch_wait_ms: 5 });
  state.failing = true;
  for (let agent = 0; agent < 10; agent += 1) receipts.delivered(`a${agent}`, [message(1)]);
  receipts.delivered('a1', [message(2)]);
  state.failing = false;
  await receipts.close();
  expect(marks().map(({ agent_id, sequence }) => `${agent_id}:${sequence}`)).toEqual([
    'a0:1',
    'a1:2',
    'a2:1',
  ]);
});
