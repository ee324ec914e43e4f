import { combineCpuTimes, type CpuTime, ofService } from './cpu-time.ts';
import { percentiles, type Percentiles } from './percentiles.ts';
import { type LoadResult, perSecond } from './run-load.ts';

/** One load on one service. */
export interface Meter {
  name: string;
  /** Runs the load for so many seconds, then waits until the service has processed all of it. */
  run(seconds: number): Promise<LoadResult>;
  /** CPU time so far of the measured processes; null where the system does not report it. */
  readCpu?(): CpuTime | null;
  /** Seconds of warm-up. A new process still compiles its code. Default 2. */
  warmUp_s?: number;
}

/** What all rounds of one load measured. */
export interface Measured {
  name: string;
  per_s: number;
  /** Of each call. */
  ms: Percentiles;
  /** CPU milliseconds for each message or call, with its delivery and indexing; null where the system does not report it. */
  cpu_ms: CpuTime | null;
}

export interface InTurnOptions {
  /** Of each load, over all rounds. */
  seconds: number;
  rounds?: number;
  /** Unmeasured seconds before each measured run. */
  lead_s?: number;
  /** Called after the warm-up. */
  onWarm?: () => void;
  log: (line: string) => unknown;
}

/** Warms up, then measures in turn, in rounds, so that other load on the machine affects all loads. */
export async function measureInTurn(
  meters: readonly Meter[],
  { seconds, rounds = 2, lead_s = 0, onWarm, log }: InTurnOptions,
): Promise<Measured[]> {
  log('warming up');
  for (const { run, warmUp_s = 2 } of meters) await run(warmUp_s);
  onWarm?.();
  const totals = meters.map((meter) => ({ meter, count: 0, seconds: 0, ms: [] as number[], cpu: zeroCpu }));
  for (let number = 1; number <= rounds; number += 1) {
    const rates: string[] = [];
    for (const total of totals) {
      const { meter } = total;
      if (lead_s > 0) await meter.run(lead_s);
      const before = meter.readCpu?.() ?? null;
      const result = await meter.run(seconds / rounds);
      const used = combineCpuTimes(meter.readCpu?.() ?? null, before, (after, earlier) => after - earlier);
      total.cpu = combineCpuTimes(total.cpu, used, (sum, more) => sum + more);
      total.count += result.count;
      total.seconds += result.seconds;
      for (const ms of result.ms) total.ms.push(ms);
      rates.push(`${meter.name} ${perSecond(result).toFixed(0)}/s`);
    }
    log(`round ${number}: ${rates.join(', ')}`);
  }
  return totals.map(({ meter, cpu, ...total }) => ({
    name: meter.name,
    per_s: Math.round(perSecond(total)),
    ms: percentiles(total.ms),
    cpu_ms: combineCpuTimes(cpu, cpu, (sum) => Math.round((sum / total.count) * 1000) / 1000),
  }));
}

const zeroCpu: CpuTime | null = { api: 0, worker: 0, postgres: 0, generator: 0 };

/** CPU time of the service for a message of the second, divided by that of the first; null where it is not known. */
export function compareCost(first: Measured | undefined, second: Measured | undefined): number | null {
  return first?.cpu_ms && second?.cpu_ms ? round(ofService(second.cpu_ms) / ofService(first.cpu_ms)) : null;
}

/** Rate of one divided by that of the other. */
export function compareRates(one: Measured | undefined, other: Measured | undefined): number {
  return round((one?.per_s ?? Number.NaN) / (other?.per_s ?? Number.NaN));
}

/** Rounds a ratio to thousandths. */
export function round(ratio: number): number {
  return Math.round(ratio * 1000) / 1000;
}
