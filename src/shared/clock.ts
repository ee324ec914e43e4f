/** The time of the database in milliseconds, as an SQL expression: the clocks of processes differ. */
export const databaseNow = `(extract(epoch from statement_timestamp()) * 1000)::bigint`;

/** By how much the clocks of the machines may differ, in milliseconds: times that are compared with those of others are off by as much. */
export const maxClockDifferenceMs = 5_000;

/** Smaller differences count as none: clocks that are kept right differ by less, and no measurement is exact. */
const minDifferenceMs = 100;
/** How often one measurement asks. The fastest answer is the most exact one. */
const samples = 3;
/** Slower answers say nothing. */
const maxRoundTripMs = 2_000;

const startedAt = performance.timeOrigin;

/**
 * Milliseconds since the epoch by the clock that this process had at its start. It does not jump when the clock of the machine is set, so
 * deadlines and expiries of this process use it.
 */
export const steadyNow = (): number => Math.round(startedAt + performance.now());

/** The clock of this process, corrected by its difference from that of the database. */
export interface Clock {
  /** The time of the database, in milliseconds. Setting the clock of this machine does not change it. */
  now(): number;
  /** By how much the database is ahead of `Date.now`, in milliseconds; 0 before the first measurement. */
  offsetMs(): number;
  /** By how much the database is ahead of `steadyNow`, in milliseconds. */
  steadyOffsetMs(): number;
  /** Measures how far the database is ahead of `Date.now`. Returns it also if it is too small to count. Rejects if the database does not respond. */
  measure(): Promise<number>;
}

/** @param read returns the time of the database. */
export function createClock(read: () => Promise<number>): Clock {
  let offset = 0;
  /** By how much `Date.now` is ahead of `steadyNow`. */
  let ahead = Date.now() - steadyNow();

  /** As `Date.now`, which the system slows or hurries a little to keep it right, but without the steps of a clock that is set. */
  function withoutSteps(): number {
    const current = Date.now() - steadyNow();
    if (Math.abs(current - ahead) < minDifferenceMs) ahead = current;
    return steadyNow() + ahead;
  }

  async function sample(): Promise<{ roundTripMs: number; difference: number }> {
    const before = Date.now();
    const start = performance.now();
    const time = await read();
    const roundTripMs = performance.now() - start;
    const middle = time - roundTripMs / 2;
    return { roundTripMs, difference: Math.round(middle - before) };
  }

  const now = () => withoutSteps() + offset;

  return {
    now,
    offsetMs: () => withoutNoise(now() - Date.now()),
    steadyOffsetMs: () => now() - steadyNow(),
    async measure() {
      let best = await sample();
      for (let taken = 1; taken < samples; taken += 1) {
        const next = await sample();
        if (next.roundTripMs < best.roundTripMs) best = next;
      }
      const { roundTripMs, difference } = best;
      if (roundTripMs > maxRoundTripMs)
        throw new Error(`the database took ${Math.round(roundTripMs)} ms to tell the time`);
      ahead = Date.now() - steadyNow();
      offset = withoutNoise(difference);
      return difference;
    },
  };
}

const withoutNoise = (ms: number): number => (Math.abs(ms) < minDifferenceMs ? 0 : ms);
