import type { Core } from '../../src/compose.ts';
import { until } from '../../src/embedded/wait.ts';
import { isIdle } from './count.ts';
import { type CpuTime, perMessage, type Pids, readCpuTime } from './cpu-time.ts';
import { perSecond, sum } from './in-flight.ts';
import type { Thread } from './population.ts';
import { openReceivers } from './receivers.ts';
import { numbers, openSends } from './sends.ts';
import type { Stage } from './stage.ts';

export interface CostOptions {
  /** Addresses of API processes: each has its share of the sockets, and gets its share of the sends of all threads. */
  bases: readonly string[];
  /** Processes beside those of the stage. */
  others?: Pids;
  threads: readonly Thread[];
  in_flight: number;
  seconds: number;
  /** Makes what a message says. */
  nextText?: () => string;
  signal: AbortSignal;
  fail: (reason: Error) => void;
}

export interface Cost {
  per_s: number;
  /** CPU milliseconds for each message; null where the system does not tell. */
  cpu: CpuTime | null;
}

const warmUp_s = 2;
const patience_ms = 60_000;

/** What a message costs under full load, until it is at the sockets and in the index. @throws when one does not arrive. */
export async function costOfSending(stage: Stage, core: Core, options: CostOptions): Promise<Cost> {
  const { bases, others, threads, in_flight, seconds, nextText, signal, fail } = options;
  const share = Math.ceil(threads.length / bases.length);
  const receivers = await Promise.all(
    bases.map((base, at) =>
      openReceivers(base, threads.slice(at * share, (at + 1) * share), { signal, lost: fail }),
    ),
  );
  const frames = () => receivers.reduce((total, each) => total + each.frames(), 0);
  // One sequence of sends, whose next one comes to whichever process has answered: as behind a balancer.
  const nextNumber = numbers();
  const senders = bases.flatMap((base, at) => {
    const own = receivers[at];
    return own ? [openSends(base, threads, own, signal, nextNumber, nextText)] : [];
  });
  const flood = async (duration: number) =>
    sum(await Promise.all(senders.map((each) => each.flood(in_flight / bases.length, duration))));
  const settled = async () => {
    const sent = senders.reduce((total, { acknowledged }) => total + acknowledged.size, 0);
    const within = { within: patience_ms, every: 25, signal };
    const arrived = await until(async () => frames() >= 2 * sent && (await isIdle(core)), within);
    if (!arrived) throw new Error(`${frames()} of ${2 * sent} frames arrived, or the queue is not empty`);
  };
  try {
    await flood(warmUp_s);
    await settled();
    const before = readCpuTime(stage, others);
    const rate = await flood(seconds);
    await settled();
    const cpu = perMessage(before, readCpuTime(stage, others), rate.count);
    return { per_s: Math.round(perSecond(rate) * bases.length), cpu };
  } finally {
    for (const each of senders) each.close();
    await Promise.all(receivers.map((each) => each.close()));
  }
}

/** What the service itself takes for a message, without the load generator. */
export function ofService({ api, worker, postgres }: CpuTime): number {
  return api + worker + postgres;
}
