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
  /** Addresses of API processes: each has an equal share of the sockets and of the sends. */
  bases: readonly string[];
  /** Processes in addition to those of the environment. */
  others?: ProcessIds;
  threads: readonly Thread[];
  /** Whether the sends to a thread all go to one address, as with the balancer in `deploy/haproxy`. Half of its sockets are elsewhere. */
  by_thread?: boolean;
  in_flight: number;
  seconds: number;
  /** Returns the text of the next message. */
  nextText?: () => string;
  signal: AbortSignal;
  fail: (reason: Error) => void;
}

export interface Cost {
  per_s: number;
  /** CPU milliseconds per message; null where the system does not report it. */
  cpu: CpuTime | null;
}

const warmUpSeconds = 2;
const timeoutMs = 60_000;

/** The cost of a message under full load, including delivery and indexing. @throws when a message does not arrive. */
export async function costOfSending(
  environment: Environment,
  core: Core,
  options: CostOptions,
): Promise<Cost> {
  const { bases, others, threads, by_thread, in_flight, seconds, nextText, signal, fail } = options;
  const share = Math.ceil(threads.length / bases.length);
  const receivers = await Promise.all(
    bases.map((base, at) =>
      openReceivers(base, threads.slice(at * share, (at + 1) * share), { signal, lost: fail }),
    ),
  );
  const frames = () => receivers.reduce((total, each) => total + each.frames(), 0);
  // One sequence of sends, as behind a balancer: the next send goes to the process that answered.
  const nextNumber = createCounter();
  const senders = bases.flatMap((base, at) => {
    const own = receivers[at];
    const targets = by_thread ? threads.filter((_, index) => index % bases.length === at) : threads;
    return own
      ? [openSenders(base, targets, own, signal, { nextNumber, ...(nextText && { nextText }) })]
      : [];
  });
  const sendAtFullSpeed = async (duration: number) =>
    sumRates(
      await Promise.all(senders.map((each) => each.sendAtFullSpeed(in_flight / bases.length, duration))),
    );
  const waitUntilIdle = async () => {
    const sent = senders.reduce((total, { acknowledged }) => total + acknowledged.size, 0);
    const within = { timeoutMs, intervalMs: 25, signal };
    const arrived = await waitUntil(async () => frames() >= 2 * sent && (await isIdle(core)), within);
    if (!arrived) throw new Error(`${frames()} of ${2 * sent} frames arrived, or the queue is not empty`);
  };
  try {
    await sendAtFullSpeed(warmUpSeconds);
    await waitUntilIdle();
    const before = readCpuTime(environment, others);
    const rate = await sendAtFullSpeed(seconds);
    await waitUntilIdle();
    const cpu = cpuTimePerMessage(before, readCpuTime(environment, others), rate.count);
    return { per_s: Math.round(perSecond(rate) * bases.length), cpu };
  } finally {
    for (const each of senders) each.close();
    await Promise.all(receivers.map((each) => each.close()));
  }
}

/** CPU milliseconds per message of the service itself, without the load generator. */
export function ofService({ api, worker, postgres }: CpuTime): number {
  return api + worker + postgres;
}
