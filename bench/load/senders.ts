import { performance } from 'node:perf_hooks';
import { waitUntil } from '../../src/shared/wait-until.ts';
import type { Member, Thread } from '../../scripts/parts/population.ts';
import type { Bench, Service } from '../start/service.ts';
import { withTimeout } from '../start/with-timeout.ts';
import { readCpuTime } from './cpu-time.ts';
import { type HttpPool, newKey, openHttpPool } from './http-client.ts';
import type { Meter } from './in-turn.ts';
import { openLightSocket } from './light-socket.ts';
import { type LoadResult, runLoad } from './run-load.ts';
import {
  buildNumberedContent,
  createCounter,
  createTally,
  type Faults,
  readNumber,
  type Tally,
} from './tally.ts';

export interface SendersOptions {
  /** Addresses of API processes: each has an equal share of the sockets and of the sends. Default: that of the service. */
  bases?: readonly string[];
  /** Whether the sends to a thread all go to one address, as with the balancer in `deploy/haproxy`. Half of its sockets are elsewhere. */
  byThread?: boolean;
  /** Which members of a thread send; both by default, in turn. */
  who?: 'both' | 'first';
  /** Returns the text of a message after its number. */
  nextText?(): string;
}

/** Agents that send messages in threads by POST. Each of them has a WebSocket, and every frame is counted. */
export interface Senders {
  /** So many sends, or batches of messages, in flight. */
  meter(name: string, lanes: number, more?: { batchSize?: number; warmUp_s?: number }): SendMeter;
  /** Sends at a steady rate. Returns the milliseconds from each POST to the other member's frame. */
  sendAtRate(rate: number, seconds: number): Promise<number[]>;
  /** Waits until the frames have arrived and outbox and queues are empty. Returns how many milliseconds that took. */
  waitUntilIdle(): Promise<number>;
  /** Frames that have arrived. */
  frames(): number;
  /** Faults, after a wait for late frames, and the number of messages. */
  count(): Promise<Faults & { messages: number }>;
  close(): void;
}

export interface SendMeter extends Meter {
  /** With the milliseconds from the last answer until the service was idle. */
  run(seconds: number): Promise<LoadResult & { drain_ms: number }>;
}

const timeoutMs = 60_000;

export async function openSenders(
  bench: Bench,
  service: Service,
  threads: readonly Thread[],
  { bases = [service.base], byThread = false, who = 'both', nextText }: SendersOptions = {},
): Promise<Senders> {
  const { signal, fail, onEnd } = bench;
  const tally = createTally();
  const nextNumber = createCounter();
  const pools = bases.map(openHttpPool);
  const { socketOf, closeSockets } = await openSockets(threads, bases, tally, fail);
  const pick = createPicker(threads, pools, { byThread, who });
  let messages = 0;

  function prepare(thread: Thread, sender: Member, number: number, isMeasured: boolean): string {
    messages += 1;
    tally.expect(number, {
      receivers: thread.members.length,
      isMeasured,
      sender: socketOf.get(sender.id) ?? -1,
    });
    return buildNumberedContent(number, nextText?.());
  }
  async function send(lane: number, isMeasured = false): Promise<void> {
    const number = nextNumber();
    const { thread, sender, pool } = pick(number, lane);
    await pool.sendMessage(thread.id, sender.token, prepare(thread, sender, number, isMeasured));
  }
  async function sendBatch(lane: number, size: number): Promise<void> {
    const first = nextNumber();
    const { thread, sender, pool } = pick(Math.floor(first / size), lane);
    const numbers = [first, ...Array.from({ length: size - 1 }, nextNumber)];
    const contents = numbers.map((number) => ({ content: prepare(thread, sender, number, false) }));
    const path = `/v1/threads/${thread.id}/messages:batch`;
    const body = await pool.request({
      path,
      token: sender.token,
      headers: newKey(),
      body: { messages: contents },
    });
    if (body.includes('"error":')) throw new Error(`a batch answered ${body.slice(0, 300)}`);
  }
  async function waitUntilIdle(): Promise<number> {
    const start = performance.now();
    await tally.waitForAll(signal);
    await waitForQueues(service, signal);
    return performance.now() - start;
  }
  const close = () => {
    closeSockets();
    for (const pool of pools) pool.close();
  };
  onEnd(close);

  return {
    meter: (name, lanes, { batchSize, ...more } = {}) => ({
      name,
      readCpu: () => readCpuTime(service),
      ...more,
      async run(seconds) {
        const result = await runLoad({ lanes, seconds, signal }, (_, lane) =>
          batchSize === undefined ? send(lane) : sendBatch(lane, batchSize),
        );
        return { ...result, count: result.count * (batchSize ?? 1), drain_ms: await waitUntilIdle() };
      },
    }),
    async sendAtRate(rate, seconds) {
      await runLoad({ rate, seconds, signal }, () => send(0, true));
      await tally.waitForAll(signal);
      return tally.takeDelays();
    },
    waitUntilIdle,
    frames: () => tally.frames(),
    async count() {
      await tally.waitForAll(signal);
      return { messages, ...tally.readFaults() };
    },
    close,
  };
}

/** Picks the thread, sender and address of a message by its number and lane. */
function createPicker(
  threads: readonly Thread[],
  pools: readonly HttpPool[],
  { byThread, who }: Required<Pick<SendersOptions, 'byThread' | 'who'>>,
) {
  /** The threads to which each address sends. */
  const targets = pools.map((_, at) =>
    byThread ? threads.filter((__, index) => index % pools.length === at) : threads,
  );
  return (number: number, lane: number): { thread: Thread; sender: Member; pool: HttpPool } => {
    const at = lane % pools.length;
    const own = targets[at] ?? [];
    const [thread, pool] = [own[number % own.length], pools[at]];
    const isSecond = who === 'both' && Math.floor(number / own.length) % 2 === 1;
    const sender = thread?.members[isSecond ? 1 : 0];
    if (!thread || !pool || !sender) throw new Error('there are no threads');
    return { thread, sender, pool };
  };
}

/** Opens a WebSocket for each member, whose frames are counted. Each address has an equal share. */
async function openSockets(
  threads: readonly Thread[],
  bases: readonly string[],
  tally: Tally,
  onLost: (reason: Error) => void,
): Promise<{ socketOf: ReadonlyMap<string, number>; closeSockets(): void }> {
  const members = [
    ...new Map(threads.flatMap((thread) => thread.members.map((each) => [each.id, each]))).values(),
  ];
  const share = Math.ceil(members.length / bases.length);
  const opening = members.map(({ token }, at) =>
    openLightSocket({
      base: bases[Math.floor(at / share)] ?? '',
      path: '/ws',
      token,
      awaitReady: true,
      onLost,
      onFrame(frame) {
        const number = readNumber(frame);
        if (number !== null) tally.receive(at, number);
      },
    }),
  );
  const sockets = await Promise.all(opening);
  return {
    socketOf: new Map(members.map(({ id }, at) => [id, at])),
    closeSockets() {
      for (const socket of sockets) socket.close();
    },
  };
}

/** Waits until the outbox and the queues that process messages are empty. */
export async function waitForQueues({ core }: Service, signal: AbortSignal): Promise<void> {
  const { db, queues } = core;
  const isIdle = async () => {
    if ((await db.outbox.readAge()).rows > 0) return false;
    const depths = await queues.depths();
    return depths.every(({ queue, waiting, active }) => queue === 'maintenance' || waiting + active === 0);
  };
  const empty = await waitUntil(() => withTimeout('the depths of the queues', timeoutMs, isIdle(), signal), {
    timeoutMs,
    intervalMs: 25,
    signal,
  });
  if (!empty) throw new Error(`queue and outbox are not empty after ${timeoutMs / 1000} s`);
}

/** The number of messages stored in these threads. */
export async function countMessages({ database }: Service, threads: readonly Thread[]): Promise<number> {
  const text = 'select count(*)::int as rows from messages where thread_id = any($1)';
  const [row] = await database.query<{ rows: number }>({ text }, [threads.map(({ id }) => id)]);
  return row?.rows ?? 0;
}
