import type { ChildProcess } from 'node:child_process';
import { findFreePort } from '../src/embedded/ports.ts';
import {
  type CostComparison,
  type CostMeter,
  formatComparison,
  compareInTurn,
  openCostMeter,
} from './cost-comparison.ts';
import { roundCpuTime } from './cpu-time.ts';
import { stopChild, programs, type Environment, startChild } from './environment.ts';

export interface NodesOptions {
  seconds: number;
  threads: number;
  in_flight: number;
  /** Starts another installation with its own database and Redis. */
  startSecondEnvironment(): Promise<Environment>;
  log: (line: string) => void;
  signal: AbortSignal;
  fail: (reason: Error) => void;
}

/** With one process of each kind, and with two. */
const warmUpSeconds = [4, 8] as const;

/** One API and one worker process compared with two of each, behind two kinds of balancer. */
export interface NodesComparison {
  /** Any send goes to any process. */
  without_affinity: CostComparison;
  /** The sends to a thread go to one process, as with the balancer in `deploy/haproxy`. */
  by_thread: CostComparison;
  /** Two installations at once, each with half of the sends: what it costs to share the processors and to have smaller batches. */
  separate: CostComparison;
}

/**
 * The cost of a message with one API and one worker process, and with two of each. With two APIs, half of the sends reach a process
 * that does not hold the sockets of the thread, with both kinds of balancer.
 */
export async function measureNodes(
  environment: Environment,
  options: NodesOptions,
): Promise<NodesComparison> {
  const { seconds, log, startSecondEnvironment, ...rest } = options;
  const sending = { ...rest, owner: 'nodes' };
  const cleanups: (() => Promise<unknown>)[] = [];
  try {
    const single = await openCostMeter(environment, { ...sending, bases: [environment.base] });
    cleanups.push(single.close);
    const other = await startSecondEnvironment();
    cleanups.push(other.stop);
    const openHalf = async (installation: Environment) => {
      const in_flight = Math.ceil(rest.in_flight / 2);
      const half = { ...rest, owner: 'separate', in_flight, bases: [installation.base] };
      const meter = await openCostMeter(installation, half);
      cleanups.push(meter.close);
      return meter;
    };
    const both = measureTogether(await openHalf(environment), await openHalf(other));
    const separate = await compareInTurn([single, both], { seconds, warmUp_s: warmUpSeconds, log });
    const second = await startSecondNode(other, options);
    cleanups.push(second.stop);
    const bases = [other.base, second.base];
    const compare = async (owner: string, by_thread: boolean) => {
      const double = await openCostMeter(other, { ...rest, owner, bases, by_thread, others: second.pids });
      cleanups.push(double.close);
      return compareInTurn([single, double], { seconds, warmUp_s: warmUpSeconds, log });
    };
    const without_affinity = await compare('nodes', false);
    return { without_affinity, by_thread: await compare('by-thread', true), separate };
  } finally {
    for (const cleanup of cleanups.toReversed()) await cleanup();
  }
}

/** The two at the same time, as if they were one: the sum of their rates and the cost of an average message. */
function measureTogether(one: CostMeter, two: CostMeter): Pick<CostMeter, 'measure'> {
  return {
    async measure(seconds) {
      const [first, second] = await Promise.all([one.measure(seconds), two.measure(seconds)]);
      const per_s = first.per_s + second.per_s;
      const [a, b] = [first.cpu, second.cpu];
      if (!a || !b) return { per_s, cpu: null };
      const average = (part: keyof typeof a) =>
        roundCpuTime((a[part] * first.per_s + b[part] * second.per_s) / per_s);
      // Both counted the CPU time of the one generator.
      const cpu = { api: average('api'), worker: average('worker'), postgres: average('postgres') };
      return { per_s, cpu: { ...cpu, generator: roundCpuTime(average('generator') / 2) } };
    },
  };
}

/** Starts another API and another worker process of the same installation. */
async function startSecondNode(environment: Environment, { signal, fail }: NodesOptions) {
  const port = await findFreePort();
  const base = `http://127.0.0.1:${port}`;
  let stopping = false;
  const children = { signal, fail: (reason: Error) => (stopping ? undefined : fail(reason)) };
  const started: ChildProcess[] = [];
  const stop = async () => {
    stopping = true;
    await Promise.all(started.map(stopChild));
  };
  try {
    const api = await startChild(programs.api, {
      ...children,
      env: { ...environment.env, PORT: String(port) },
    });
    started.push(api);
    const worker = await startChild(programs.worker, { ...children, env: environment.env });
    started.push(worker);
    return { base, pids: { api: [api.pid ?? 0], worker: [worker.pid ?? 0] }, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Formats the figures as text. */
export function formatNodes({ without_affinity, by_thread, separate }: NodesComparison): string {
  const one = 'one API and one worker';
  return [
    formatComparison(without_affinity, [one, 'two of each, without affinity']),
    formatComparison(by_thread, [one, 'two of each, a thread at one API']),
    formatComparison(separate, [one, 'two separate installations']),
  ].join('\n');
}
