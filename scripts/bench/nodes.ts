import type { ChildProcess } from 'node:child_process';
import { compose } from '../../src/compose.ts';
import { loadConfig } from '../../src/config.ts';
import { freePort } from '../../src/embedded/ports.ts';
import { type Cost, costOfSending, ofService } from './cost.ts';
import type { Pids } from './cpu-time.ts';
import { makeThreads } from './population.ts';
import { endChild, programs, type Stage, startChild } from './stage.ts';

export interface NodesOptions {
  seconds: number;
  threads: number;
  in_flight: number;
  /** Another installation, with a database and a Redis of its own. */
  startOther(): Promise<Stage>;
  say: (line: string) => void;
  signal: AbortSignal;
  fail: (reason: Error) => void;
}

export interface NodesMeasured {
  one: Cost[];
  two: Cost[];
  /** CPU time of the service for a message with two of each, divided by that with one of each; null where it is not told. */
  cost_ratio: number | null;
}

const rounds = 3;

/** Measures what sending costs one installation, time and again. */
interface Meter {
  measure(seconds: number): Promise<Cost>;
  close(): Promise<void>;
}

/**
 * What a message costs one API and one worker process, and two of each, in turn. They are two installations, so that all processes have
 * done as much before they are measured: a young one still compiles its code. With two APIs half of the sends come to the process that
 * does not hold the sockets of the thread, as behind a balancer without affinity.
 */
export async function measureNodes(stage: Stage, options: NodesOptions): Promise<NodesMeasured> {
  const { seconds, say, startOther } = options;
  const ends: (() => Promise<unknown>)[] = [];
  try {
    const single = await openMeter(stage, [stage.base], { api: [], worker: [] }, options);
    ends.push(single.close);
    const other = await startOther();
    ends.push(other.stop);
    const second = await startSecond(other, options);
    ends.push(second.stop);
    const double = await openMeter(other, [other.base, second.base], second.pids, options);
    ends.push(double.close);
    say('warming up');
    await single.measure(warmUp_s);
    await double.measure(2 * warmUp_s);
    const one: Cost[] = [];
    const two: Cost[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      one.push(await single.measure(seconds));
      two.push(await double.measure(seconds));
      say(`round ${round}: ${one.at(-1)?.per_s} messages/s by one of each, ${two.at(-1)?.per_s} by two`);
    }
    const [of_one, of_two] = [mean(one), mean(two)];
    return { one, two, cost_ratio: of_one === null || of_two === null ? null : of_two / of_one };
  } finally {
    for (const end of ends.toReversed()) await end();
  }
}

const warmUp_s = 4;

async function openMeter(
  stage: Stage,
  bases: readonly string[],
  others: Pids,
  { threads: count, in_flight, signal, fail }: NodesOptions,
): Promise<Meter> {
  const core = compose(loadConfig({ ...stage.env, LOG_LEVEL: 'silent' }), 'bench');
  const threads = await makeThreads(core, 'nodes', count);
  const sending = { bases, others, threads, in_flight, signal, fail };
  return {
    measure: (seconds) => costOfSending(stage, core, { ...sending, seconds }),
    close: () => core.close(),
  };
}

/** Another API and another worker process of the same installation. */
async function startSecond(stage: Stage, { signal, fail }: NodesOptions) {
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  let stopping = false;
  const children = { signal, fail: (reason: Error) => (stopping ? undefined : fail(reason)) };
  const started: ChildProcess[] = [];
  const stop = async () => {
    stopping = true;
    await Promise.all(started.map(endChild));
  };
  try {
    const api = await startChild(programs.api, { ...children, env: { ...stage.env, PORT: String(port) } });
    started.push(api);
    const worker = await startChild(programs.worker, { ...children, env: stage.env });
    started.push(worker);
    return { base, pids: { api: [api.pid ?? 0], worker: [worker.pid ?? 0] }, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function mean(costs: readonly Cost[]): number | null {
  const known = costs.flatMap(({ cpu }) => (cpu ? [ofService(cpu)] : []));
  return known.length === 0 ? null : known.reduce((total, each) => total + each, 0) / known.length;
}

/** The figures for people. */
export function nodesTable({ one, two, cost_ratio }: NodesMeasured): string {
  const line = (name: string, { per_s, cpu }: Cost) => {
    const parts = cpu ? Object.entries(cpu).map(([part, ms]) => `${part} ${ms}`) : ['not told here'];
    return `${name.padEnd(26)}  ${String(per_s).padStart(5)} messages/s, CPU ms for each message: ${parts.join(', ')}\n`;
  };
  const lines = one.flatMap((cost, round) => {
    const other = two[round];
    return [
      line('one API and one worker', cost),
      ...(other ? [line('two APIs and two workers', other)] : []),
    ];
  });
  const ratio = cost_ratio === null ? 'not told here' : cost_ratio.toFixed(3);
  return `${lines.join('')}CPU time of a message with two of each ÷ with one of each: ${ratio}\n`;
}
