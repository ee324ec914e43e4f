import { setTimeout as pause } from 'node:timers/promises';

/**
 * Reads the longest delay of the event loop of an API process since the last reading, in milliseconds, from its own metrics
 * (perf_hooks monitorEventLoopDelay). Reading starts a new period.
 */
export async function readLoopDelay(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const [, seconds] = /^nodejs_eventloop_lag_max_seconds(?:\{[^}]*\})? (\S+)$/m.exec(text) ?? [];
  if (seconds === undefined) throw new Error('the metrics have no nodejs_eventloop_lag_max_seconds');
  return Number(seconds) * 1_000;
}

/**
 * One call must not hold the loop for more than 50 ms on a quiet machine. A busy machine delays a process too, but not each time at the
 * same call: a call counts as slow when its shortest delay of several attempts is over this bound, which leaves room for that.
 */
export const maxDelayMs = 150;
const attempts = 8;
/** A reading resets the histogram, which takes the time every 10 ms and measures from the first time that it takes: three of them. */
const measuringAfterMs = 30;

/** The delay that every attempt of a call causes, in milliseconds. `call` gets the number of the attempt, so that no cache answers it. */
export async function measureDelay(
  url: string,
  call: (attempt: number) => Promise<unknown>,
): Promise<number> {
  let shortest = Infinity;
  for (let attempt = 0; attempt < attempts && shortest > maxDelayMs; attempt += 1) {
    await readLoopDelay(url);
    await pause(measuringAfterMs);
    await call(attempt);
    shortest = Math.min(shortest, await readLoopDelay(url));
  }
  return shortest;
}
