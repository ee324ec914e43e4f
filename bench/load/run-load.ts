import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';

export interface LoadOptions {
  /** Closed loop: calls in flight. Each lane starts its next call after the last one. Default 1. */
  lanes?: number;
  /** Open loop in place of lanes: calls per second, whatever the answers take. */
  rate?: number;
  /** Default: no limit. */
  seconds?: number;
  /** Number of calls. Default: no limit. */
  calls?: number;
  signal: AbortSignal;
}

export interface LoadResult {
  count: number;
  /** Until the last answer. */
  seconds: number;
  /** Milliseconds of each call. */
  ms: readonly number[];
}

/**
 * The load loop of every measurement. Each call has its own timeout.
 * @param call gets the number of the call, and of its lane; ends the lane when it returns false
 * @throws the first failure, which stops all further calls, and the abort reason of `signal`.
 */
export async function runLoad(
  { lanes = 1, rate, seconds = Infinity, calls = Infinity, signal }: LoadOptions,
  call: (number: number, lane: number) => Promise<unknown>,
): Promise<LoadResult> {
  const start = performance.now();
  const end = start + seconds * 1000;
  const ms: number[] = [];
  let next = 0;
  let isStopped = false;

  async function callOnce(lane: number): Promise<unknown> {
    const at = performance.now();
    try {
      const result = await call(next++, lane);
      ms.push(performance.now() - at);
      return result;
    } catch (error) {
      isStopped = true;
      throw error;
    }
  }
  async function runLane(lane: number): Promise<void> {
    while (next < calls && performance.now() < end && !isStopped) {
      if ((await callOnce(lane)) === false) return;
    }
  }
  async function runAtRate(callsPerSecond: number): Promise<void> {
    const running: Promise<unknown>[] = [];
    const total = Math.min(calls, Math.round(callsPerSecond * seconds));
    while (next < total && !isStopped) {
      const early = start + (next * 1000) / callsPerSecond - performance.now();
      if (early > 0) await pause(early, undefined, { signal });
      const calling = callOnce(0);
      calling.catch(() => undefined); // Promise.all rejects with it
      running.push(calling);
    }
    await Promise.all(running);
  }

  signal.throwIfAborted();
  const done = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    const stop = () => {
      isStopped = true;
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', stop, { signal: done.signal });
  });
  const work =
    rate === undefined ? Array.from({ length: lanes }, (_, lane) => runLane(lane)) : [runAtRate(rate)];
  try {
    await Promise.race([Promise.all(work), aborted]);
  } finally {
    done.abort();
  }
  return { count: next, seconds: (performance.now() - start) / 1000, ms };
}

/** Runs `work` for each item, with so many at a time; returns the results in order. */
export async function mapConcurrently<T, R>(
  items: readonly T[],
  lanes: number,
  signal: AbortSignal,
  work: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const calls = items.length;
  await runLoad({ lanes: Math.min(lanes, calls), calls, signal }, async (at) => {
    results[at] = await work(items[at] as T, at);
  });
  return results;
}

export function perSecond({ count, seconds }: Pick<LoadResult, 'count' | 'seconds'>): number {
  return seconds > 0 ? count / seconds : 0;
}
