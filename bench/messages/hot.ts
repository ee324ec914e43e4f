import { compose } from '../../src/compose.ts';
import { loadConfig } from '../../src/config.ts';
import type { Environment } from '../environment.ts';
import { perSecond, type Rate, sumRates } from '../in-flight.ts';
import { createThreads, createThreadsOfOneAgent, type Thread } from '../population.ts';
import { countFrames, waitUntilIdle } from './counts.ts';
import { openReceivers, type Receivers } from './receivers.ts';
import { openSenders, type Senders } from './sends.ts';

export interface HotOptions {
  /** Of each load, in rounds of half of it. */
  seconds: number;
  /** Threads of the spread load, and threads of the one receiver. */
  threads: number;
  in_flight: number;
  log: (line: string) => void;
  signal: AbortSignal;
  fail: (reason: Error) => void;
}

interface LoadFigures {
  name: string;
  messages_per_s: number;
  /** Relative to the spread load. */
  ratio: number;
  lost: number;
  duplicated: number;
}

export interface HotMeasurement {
  threads: number;
  in_flight: number;
  loads: LoadFigures[];
}

interface Load {
  name: string;
  receivers: Receivers;
  senders: Senders;
  rates: Rate[];
}

const rounds = 2;
const warmUpSeconds = 2;

/** Measures in turn: sends in many threads, sends of many agents to one agent, and sends in one thread. */
export async function measureHot(environment: Environment, options: HotOptions): Promise<HotMeasurement> {
  const { seconds, threads, in_flight, log, signal } = options;
  const core = compose(loadConfig({ ...environment.env, LOG_LEVEL: 'silent' }), 'bench');
  const loads: Load[] = [];
  const open = async (name: string, population: Promise<Thread[]>, who: 'both' | 'first') =>
    void loads.push(await openLoad(environment.base, name, await population, who, options));
  try {
    await open(`${threads} threads of two`, createThreads(core, 'spread', threads), 'both');
    await open(`${threads} agents to one`, createThreadsOfOneAgent(core, 'receiver', threads), 'first');
    await open('one thread of two', createThreads(core, 'thread', 1), 'both');
    for (const { senders } of loads) await senders.sendAtFullSpeed(in_flight, warmUpSeconds);
    await waitUntilIdle(core, signal);
    for (let round = 1; round <= rounds; round += 1) {
      for (const { name, senders, rates } of loads) {
        const rate = await senders.sendAtFullSpeed(in_flight, seconds / rounds);
        rates.push(rate);
        await waitUntilIdle(core, signal);
        log(`round ${round}: ${name}, ${perSecond(rate).toFixed(0)} messages/s`);
      }
    }
    const [first] = loads;
    const spread = first ? perSecond(sumRates(first.rates)) : 0;
    const figures: LoadFigures[] = [];
    for (const { name, receivers, senders, rates } of loads) {
      const per_s = perSecond(sumRates(rates));
      const counted = await countFrames(receivers, senders, signal);
      figures.push({
        name,
        messages_per_s: Math.round(per_s),
        ratio: Math.round((per_s / spread) * 1_000) / 1_000,
        ...counted,
      });
    }
    return { threads, in_flight, loads: figures };
  } finally {
    for (const { senders } of loads) senders.close();
    await Promise.all([...loads.map(({ receivers }) => receivers.close()), core.close()]);
  }
}

async function openLoad(
  base: string,
  name: string,
  threads: readonly Thread[],
  who: 'both' | 'first',
  { signal, fail }: HotOptions,
): Promise<Load> {
  const receivers = await openReceivers(base, threads, { signal, lost: fail });
  return { name, receivers, senders: openSenders(base, threads, receivers, signal, { who }), rates: [] };
}

/** Formats the figures as text. */
export function formatHot({ loads, in_flight }: HotMeasurement): string {
  const width = Math.max(...loads.map(({ name }) => name.length));
  const rows = loads.map(({ name, messages_per_s, ratio, lost, duplicated }) => {
    const rate = `${String(messages_per_s).padStart(6)} messages/s, ${ratio.toFixed(3)} of the first`;
    return `${name.padEnd(width)}  ${rate}; lost, duplicated: ${lost}, ${duplicated}\n`;
  });
  return `${in_flight} in flight\n${rows.join('')}`;
}
