import type { ChildProcess } from 'node:child_process';
import { findFreePort } from '../src/embedded/ports.ts';
import { type CostComparison, formatComparison, compareInTurn, openCostMeter } from './cost-comparison.ts';
import { stopChild, programs, type Environment, startChild } from './environment.ts';

export interface NodesOptions {
  seconds: number;
  threads: number;
  in_flight: number;
  /** Another installation, with a database and a Redis of its own. */
  startSecondEnvironment(): Promise<Environment>;
  log: (line: string) => void;
  signal: AbortSignal;
  fail: (reason: Error) => void;
}

/** Of one of each, and of two. */
const warmUpSeconds = [4, 8] as const;

/**
 * What a message costs one API and one worker process, and two of each. With two APIs half of the sends come to the process that
 * does not hold the sockets of the thread, as behind a balancer without affinity.
 */
export async function measureNodes(stage: Environment, options: NodesOptions): Promise<CostComparison> {
  const { seconds, log, startSecondEnvironment, ...rest } = options;
  const sending = { ...rest, owner: 'nodes' };
  const ends: (() => Promise<unknown>)[] = [];
  try {
    const single = await openCostMeter(stage, { ...sending, bases: [stage.base] });
    ends.push(single.close);
    const other = await startSecondEnvironment();
    ends.push(other.stop);
    const second = await startSecondNode(other, options);
    ends.push(second.stop);
    const bases = [other.base, second.base];
    const double = await openCostMeter(other, { ...sending, bases, others: second.pids });
    ends.push(double.close);
    return await compareInTurn([single, double], { seconds, warmUp_s: warmUpSeconds, say: log });
  } finally {
    for (const end of ends.toReversed()) await end();
  }
}

/** Another API and another worker process of the same installation. */
async function startSecondNode(stage: Environment, { signal, fail }: NodesOptions) {
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

/** The figures for people. */
export function formatNodes(measured: CostComparison): string {
  return formatComparison(measured, ['one API and one worker', 'two APIs and two workers']);
}
