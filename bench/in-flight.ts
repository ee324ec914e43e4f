import { performance } from 'node:perf_hooks';

export interface Rate {
  count: number;
  seconds: number;
}

/**
 * Keeps `lanes` calls in flight for some seconds and waits for the last ones. Each lane runs one call after the other. Each call has
 * its own timeout.
 * @throws the first failure, which stops every lane.
 */
export async function keepInFlight(
  lanes: number,
  seconds: number,
  signal: AbortSignal,
  call: (number: number) => Promise<void>,
): Promise<Rate> {
  const start = performance.now();
  const end = start + seconds * 1000;
  let next = 0;
  const failures: unknown[] = [];
  async function lane(): Promise<void> {
    while (performance.now() < end && !signal.aborted && failures.length === 0) await call(next++);
  }
  const onFailure = (error: unknown) => void failures.push(error);
  await Promise.all(Array.from({ length: lanes }, () => lane().catch(onFailure)));
  signal.throwIfAborted();
  if (failures.length > 0) throw failures[0];
  return { count: next, seconds: (performance.now() - start) / 1000 };
}

/** The sum of counts and of durations. */
export function sumRates(rates: readonly Rate[]): Rate {
  const add = (total: Rate, rate: Rate) => ({
    count: total.count + rate.count,
    seconds: total.seconds + rate.seconds,
  });
  return rates.reduce(add, { count: 0, seconds: 0 });
}

export function perSecond({ count, seconds }: Rate): number {
  return seconds > 0 ? count / seconds : 0;
}
