import type { ChildProcess } from 'node:child_process';
import { freePort } from '../../src/embedded/ports.ts';
import { type Compared, comparedTable, compareInTurn, openMeter } from './meter.ts';
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

/** Of one of each, and of two. */
const warmUp_s = [4, 8] as const;

/**
 * What a message costs one API and one worker process, and two of each. With two APIs half of the sends come to the process that
 * does not hold the sockets of the thread, as behind a balancer without affinity.
 */
export async function measureNodes(stage: Stage, options: NodesOptions): Promise<Compared> {
  const { seconds, say, startOther, ...rest } = options;
  const sending = { ...rest, owner: 'nodes' };
  const ends: (() => Promise<unknown>)[] = [];
  try {
    const single = await openMeter(stage, { ...sending, bases: [stage.base] });
    ends.push(single.close);
    const other = await startOther();
    ends.push(other.stop);
    const second = await startSecond(other, options);
    ends.push(second.stop);
    const bases = [other.base, second.base];
    const double = await openMeter(other, { ...sending, bases, others: second.pids });
    ends.push(double.close);
    return await compareInTurn([single, double], { seconds, warmUp_s, say });
  } finally {
    for (const end of ends.toReversed()) await end();
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

/** The figures for people. */
export function nodesTable(measured: Compared): string {
  return comparedTable(measured, ['one API and one worker', 'two APIs and two workers']);
}
