import { performance } from 'node:perf_hooks';
import { waitUntil } from '../../src/shared/wait-until.ts';

/** Faults of the messages that one server delivered. */
export interface Faults {
  lost: number;
  duplicated: number;
  reordered: number;
}

export interface Expectation {
  /** How many sockets must receive the message. */
  receivers: number;
  /** Whether to record the time to each socket, except to the one of the sender. */
  isMeasured?: boolean;
  /** The socket of the sender. */
  sender?: number;
}

/** Counts the frames that arrive at numbered sockets. */
export interface Tally {
  /** Call this before the message is sent. */
  expect(number: number, expectation: Expectation): void;
  /** Adds a message that a socket received. */
  receive(socket: number, number: number): void;
  /** Resolves when every receiver has the message, or after `giveUp`. */
  arrival(number: number): Promise<void>;
  giveUp(): void;
  /** Frames that have arrived, without repeated ones. */
  frames(): number;
  /** Waits until every expected frame has arrived, at most 30 seconds: the rest is lost. */
  waitForAll(signal: AbortSignal): Promise<void>;
  /** Milliseconds from each measured send to each frame. */
  takeDelays(): number[];
  readFaults(): Faults;
}

interface Pending extends Expectation {
  left: number;
  at: number;
  resolve?: () => void;
}

/** How long to wait for messages after the end of a load: the rest is lost. */
const timeoutMs = 30_000;
const digits = 9;
const defaultMarker = Buffer.from('"content":"#');
const filling = 'lorem ipsum dolor sit amet '.repeat(7);

/** A message content of about 200 bytes that starts with its number. */
export function buildNumberedContent(number: number, text = filling): string {
  return `#${String(number).padStart(digits, '0')} ${text}`;
}

/** The number of the message in a frame; null for other frames. */
export function readNumber(frame: Buffer, marker = defaultMarker): number | null {
  const start = frame.indexOf(marker);
  if (start < 0) return null;
  const at = start + marker.length;
  return Number(frame.toString('latin1', at, at + digits));
}

/** Returns 0, then 1, and so on: the numbers of messages. */
export function createCounter(): () => number {
  let next = 0;
  return () => next++;
}

/**
 * @param order `by number`: messages must arrive in the order of their numbers; `the same everywhere`: in one order at every socket,
 * whatever their numbers; by default the order is not checked
 */
export function createTally(order?: 'by number' | 'the same everywhere'): Tally {
  const sockets = new Map<number, Set<number>>();
  const pending = new Map<number, Pending>();
  let delays: number[] = [];
  let expected = 0;
  let accepted = 0;
  let duplicated = 0;

  return {
    expect(number, expectation) {
      expected += expectation.receivers;
      pending.set(number, { ...expectation, left: expectation.receivers, at: performance.now() });
    },
    receive(socket, number) {
      let seen = sockets.get(socket);
      if (!seen) sockets.set(socket, (seen = new Set()));
      if (seen.has(number)) {
        duplicated += 1;
        return;
      }
      seen.add(number);
      accepted += 1;
      const message = pending.get(number);
      if (!message) return;
      if (message.isMeasured && message.sender !== socket) delays.push(performance.now() - message.at);
      message.left -= 1;
      if (message.left > 0) return;
      pending.delete(number);
      message.resolve?.();
    },
    arrival(number) {
      const message = pending.get(number);
      return message ? new Promise((resolve) => (message.resolve = resolve)) : Promise.resolve();
    },
    giveUp() {
      for (const { resolve } of pending.values()) resolve?.();
    },
    frames: () => accepted,
    async waitForAll(signal) {
      await waitUntil(() => accepted >= expected, { timeoutMs, signal });
    },
    takeDelays() {
      const taken = delays;
      delays = [];
      return taken;
    },
    readFaults() {
      const lists = [...sockets.values()].map((seen) => [...seen]);
      const reordered =
        order === 'by number'
          ? lists.reduce((total, list) => total + countDescents(list), 0)
          : order === 'the same everywhere'
            ? countDifferences(lists)
            : 0;
      return { lost: Math.max(0, expected - accepted), duplicated, reordered };
    },
  };
}

/** How often a number follows a greater one. */
function countDescents(list: readonly number[]): number {
  return list.filter((number, at) => number < (list[at - 1] ?? number)).length;
}

/** How many lists have another order than the first one, for the numbers that both have. */
function countDifferences(lists: readonly (readonly number[])[]): number {
  const [first = [], ...others] = lists;
  const place = new Map(first.map((number, at) => [number, at]));
  return others.filter((list) => countDescents(list.flatMap((number) => place.get(number) ?? [])) > 0).length;
}

/** Ends the wait for lost messages some time after the end of a load, which waits for each arrival. */
export async function giveUpAfter<T>(tally: Tally, seconds: number, run: () => Promise<T>): Promise<T> {
  const timer = setTimeout(() => tally.giveUp(), seconds * 1_000 + timeoutMs);
  try {
    return await run();
  } finally {
    clearTimeout(timer);
  }
}

export function addFaults(one: Faults, other: Faults): Faults {
  return {
    lost: one.lost + other.lost,
    duplicated: one.duplicated + other.duplicated,
    reordered: one.reordered + other.reordered,
  };
}
