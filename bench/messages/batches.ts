import { randomUUID } from 'node:crypto';
import { compose, type Core } from '../../src/compose.ts';
import { loadConfig } from '../../src/config.ts';
import { type CpuTime, cpuTimePerMessage, readCpuTime } from '../cpu-time.ts';
import type { Environment } from '../environment.ts';
import { buildPostRequest, openKeepAliveConnection } from '../http-client.ts';
import { keepInFlight, perSecond, type Rate, sumRates } from '../in-flight.ts';
import { createThreads, type Thread } from '../population.ts';
import { countFrames, waitUntilIdle } from './counts.ts';
import { buildNumberedContent, openReceivers } from './receivers.ts';
import { createCounter, type NextNumber, openSenders } from './sends.ts';

export interface BatchesOptions {
  /** Of each kind, in rounds of half of it. */
  seconds: number;
  threads: number;
  /** Concurrent single sends. */
  in_flight: number;
  log: (line: string) => void;
  signal: AbortSignal;
  fail: (reason: Error) => void;
}

interface SendingFigures {
  messages_per_s: number;
  /** Of the last round; null where the system does not report it. */
  cpu_ms_per_message: CpuTime | null;
}

export interface BatchesMeasurement {
  singles: SendingFigures;
  batches: SendingFigures;
  ratio: number;
  batch_size: number;
  in_flight: number;
  batches_in_flight: number;
  lost: number;
  duplicated: number;
}

const batchSize = 100;
const batchesInFlight = 8;
const rounds = 2;
const warmUpSeconds = 2;

/** Measures batches of 100 messages and single sends in turn, each message delivered to two sockets and indexed. */
export async function measureBatches(
  environment: Environment,
  options: BatchesOptions,
): Promise<BatchesMeasurement> {
  const { seconds, in_flight, log, signal, fail } = options;
  const core = compose(loadConfig({ ...environment.env, LOG_LEVEL: 'silent' }), 'bench');
  const { base } = environment;
  const threads = await createThreads(core, 'batches', options.threads);
  const receivers = await openReceivers(base, threads, { signal, lost: fail });
  const nextNumber = createCounter();
  const singles = openSenders(base, threads, receivers, signal, { nextNumber });
  const batches = openBatchSender(base, threads, nextNumber, signal);
  const measured = { singles: createFigures(), batches: createFigures() };
  try {
    await singles.sendAtFullSpeed(in_flight, warmUpSeconds);
    await batches.sendAtFullSpeed(warmUpSeconds);
    await waitUntilIdle(core, signal);
    for (let round = 1; round <= rounds; round += 1) {
      const part = seconds / rounds;
      await measured.singles.add(environment, core, signal, () => singles.sendAtFullSpeed(in_flight, part));
      await measured.batches.add(environment, core, signal, () => batches.sendAtFullSpeed(part));
      const [one, many] = [measured.singles.read(), measured.batches.read()];
      log(`round ${round}: ${one.messages_per_s} messages/s alone, ${many.messages_per_s} in batches`);
    }
    const acknowledged = new Map([...singles.acknowledged, ...batches.acknowledged]);
    const counted = await countFrames(receivers, { acknowledged }, signal);
    const [one, many] = [measured.singles.read(), measured.batches.read()];
    return {
      singles: one,
      batches: many,
      ratio: Math.round((many.messages_per_s / one.messages_per_s) * 100) / 100,
      batch_size: batchSize,
      in_flight,
      batches_in_flight: batchesInFlight,
      ...counted,
    };
  } finally {
    singles.close();
    batches.close();
    await Promise.all([receivers.close(), core.close()]);
  }
}

function createFigures() {
  const rates: Rate[] = [];
  let cpu: CpuTime | null = null;
  return {
    async add(environment: Environment, core: Core, signal: AbortSignal, send: () => Promise<Rate>) {
      const before = readCpuTime(environment);
      const rate = await send();
      await waitUntilIdle(core, signal);
      rates.push(rate);
      cpu = cpuTimePerMessage(before, readCpuTime(environment), rate.count);
    },
    read: (): SendingFigures => ({
      messages_per_s: Math.round(perSecond(sumRates(rates))),
      cpu_ms_per_message: cpu,
    }),
  };
}

function openBatchSender(
  base: string,
  threads: readonly Thread[],
  nextNumber: NextNumber,
  signal: AbortSignal,
) {
  const connections = Array.from({ length: batchesInFlight }, () => openKeepAliveConnection(base));
  const free = [...connections];
  const acknowledged = new Map<number, Thread>();

  async function sendBatch(at: number): Promise<void> {
    const connection = free.pop();
    const thread = threads[at % threads.length];
    if (!connection || !thread) throw new Error('more calls than connections, or no threads');
    const numbers = Array.from({ length: batchSize }, nextNumber);
    const messages = numbers.map((number) => ({ content: buildNumberedContent(number) }));
    const path = `/v1/threads/${thread.id}/messages:batch`;
    const { token } = thread.members[0];
    const request = buildPostRequest({ base, path, token, key: randomUUID(), body: { messages } });
    const { status, body } = await connection.send(request);
    if (status !== 200 || body.includes('"error":')) {
      throw new Error(`a batch answered ${status}: ${body.slice(0, 300)}`);
    }
    for (const number of numbers) acknowledged.set(number, thread);
    free.push(connection);
  }

  return {
    acknowledged,
    /** The rate of messages. */
    async sendAtFullSpeed(seconds: number): Promise<Rate> {
      const rate = await keepInFlight(batchesInFlight, seconds, signal, sendBatch);
      return { ...rate, count: rate.count * batchSize };
    },
    close() {
      for (const connection of connections) connection.close();
    },
  };
}

/** Formats the figures as text. */
export function formatBatches(measured: BatchesMeasurement): string {
  const { singles, batches, ratio, batch_size, in_flight, batches_in_flight } = measured;
  const line = (name: string, { messages_per_s, cpu_ms_per_message }: SendingFigures) => {
    const parts = Object.entries(cpu_ms_per_message ?? {}).map(([part, ms]) => `${part} ${ms}`);
    const cpu = parts.join(', ') || 'not available';
    return `${name.padEnd(40)}${String(messages_per_s).padStart(6)} messages/s, CPU ms for each message: ${cpu}`;
  };
  return [
    line(`single sends, ${in_flight} in flight`, singles),
    line(`batches of ${batch_size}, ${batches_in_flight} in flight`, batches),
    `ratio                                   ${ratio}`,
    `lost, duplicated                        ${measured.lost}, ${measured.duplicated}`,
    '',
  ].join('\n');
}
