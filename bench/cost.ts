import type { Core } from '../src/compose.ts';
import { waitUntil } from '../src/shared/wait-until.ts';
import { isIdle } from './messages/counts.ts';
import { type CpuTime, cpuTimePerMessage, type ProcessIds, readCpuTime } from './cpu-time.ts';
import { perSecond, sumRates } from './in-flight.ts';
import type { Thread } from './population.ts';
import { openReceivers } from './messages/receivers.ts';
import { createCounter, openSenders } from './messages/sends.ts';
import type { Environment } from './environment.ts';

export interface CostOptions {
  /** Addresses of API processes: each has its share of the sockets, and gets its share of the sends of all threads. */
  bases: readonly string[];
  /** Processes beside those of the stage. */
  others?: ProcessIds;
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

const warmUpSeconds = 2;
const timeoutMs = 60_000;

/** What a message costs under full load, until it is at the sockets and in the index. @throws when one does not arrive. */
export async function costOfSending(stage: Environment, core: Core, options: CostOptions): Promise<Cost> {
  const { bases, others, threads, in_flight, seconds, nextText, signal, fail } = options;
  const share = Math.ceil(threads.length / bases.length);
  const receivers = await Promise.all(
    bases.map((base, at) =>
      openReceivers(base, threads.slice(at * share, (at + 1) * share), { signal, lost: fail }),
    ),
  );
  const frames = () => receivers.reduce((total, each) => total + each.frames(), 0);
  // One sequence of sends, whose next one comes to whichever process has answered: as behind a balancer.
  const nextNumber = createCounter();
  const senders = bases.flatMap((base, at) => {
    const own = receivers[at];
    return own ? [openSenders(base, threads, own, signal, nextNumber, nextText)] : [];
  });
  const flood = async (duration: number) =>
    sumRates(
      await Promise.all(senders.map((each) => each.sendAtFullSpeed(in_flight / bases.length, duration))),
    );
  const settled = async () => {
    const sent = senders.reduce((total, { acknowledged }) => total + acknowledged.size, 0);
    const within = { timeoutMs, intervalMs: 25, signal };
    const arrived = await waitUntil(async () => frames() >= 2 * sent && (await isIdle(core)), within);
    if (!arrived) throw new Error(`${frames()} of ${2 * sent} frames arrived, or the queue is not empty`);
  };
  try {
    await flood(warmUpSeconds);
    await settled();
    const before = readCpuTime(stage, others);
    const rate = await flood(seconds);
    await settled();
    const cpu = cpuTimePerMessage(before, readCpuTime(stage, others), rate.count);
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
