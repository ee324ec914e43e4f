import type { ChildProcess } from 'node:child_process';
import { compose } from '../../src/compose.ts';
import { loadConfig } from '../../src/config.ts';
import { freePort } from '../../src/embedded/ports.ts';
import { type Cost, costOfSending, ofService } from './cost.ts';
import { makeThreads } from './population.ts';
import { endChild, programs, type Stage, startChild } from './stage.ts';

export interface NodesOptions {
  seconds: number;
  threads: number;
  in_flight: number;
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

/**
 * What a message costs one API and one worker process, and two of each, in turn. With two APIs half of the sends come to the process
 * that does not hold the sockets of the thread, as behind a balancer without affinity.
 */
export async function measureNodes(stage: Stage, options: NodesOptions): Promise<NodesMeasured> {
  const { seconds, in_flight, say, signal, fail } = options;
  const core = compose(loadConfig({ ...stage.env, LOG_LEVEL: 'silent' }), 'bench');
  try {
    const threads = await makeThreads(core, 'nodes', options.threads);
    const sending = { threads, in_flight, seconds, signal, fail };
    const one: Cost[] = [];
    const two: Cost[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      one.push(await costOfSending(stage, core, { ...sending, bases: [stage.base] }));
      const second = await startSecond(stage, options);
      try {
        const { base, pids } = second;
        two.push(await costOfSending(stage, core, { ...sending, bases: [stage.base, base], others: pids }));
      } finally {
        await second.stop();
      }
      say(`round ${round}: ${one.at(-1)?.per_s} messages/s by one of each, ${two.at(-1)?.per_s} by two`);
    }
    const [of_one, of_two] = [mean(one), mean(two)];
    return { one, two, cost_ratio: of_one === null || of_two === null ? null : of_two / of_one };
  } finally {
    await core.close();
  }
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
