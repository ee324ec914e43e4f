import { setMaxListeners } from 'node:events';
import { toOneLine } from '../../src/embedded/launcher-error.ts';
import type { Bench } from '../start/service.ts';

/** Where a server failed. Its later measures are left out. */
export interface Failure {
  peer: string;
  measure: string;
  reason: string;
}

export interface OwnBench extends Bench {
  /** The signal of the whole run. */
  whole: AbortSignal;
}

/** What a server gets whose failures end only its own measures. */
export function isolate(bench: Bench): OwnBench {
  const own = new AbortController();
  setMaxListeners(0, own.signal); // every wait adds a listener
  bench.signal.addEventListener('abort', () => own.abort(bench.signal.reason));
  return { ...bench, signal: own.signal, fail: (reason) => own.abort(reason), whole: bench.signal };
}

/** Runs one measure. @returns undefined when it fails, or an earlier one of the same server has failed. */
export async function attempt<T>(
  { signal, whole, fail, log }: OwnBench,
  failures: Failure[],
  place: Omit<Failure, 'reason'>,
  measure: () => Promise<T>,
): Promise<T | undefined> {
  whole.throwIfAborted();
  if (signal.aborted) return undefined;
  try {
    return await measure();
  } catch (error) {
    whole.throwIfAborted();
    const reason = toOneLine(error);
    fail(new Error(reason));
    failures.push({ ...place, reason });
    log(`${place.peer} failed in the measure "${place.measure}": ${reason}`);
    return undefined;
  }
}
