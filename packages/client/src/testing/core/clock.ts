import { randomBytes } from 'node:crypto';

/** The time of a fake service. It stands still between changes, so that a test gets the same times in every run. */
export interface FakeClock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Moves the time forward, in milliseconds: tokens and unsent files can expire. */
  advance(milliseconds: number): void;
}

/** 2026-01-01T00:00:00Z */
const defaultStart = Date.UTC(2026, 0, 1);

/** Creates a clock that moves only by `advance`. */
export function createClock(start = defaultStart): FakeClock {
  let time = start;
  return {
    now: () => time,
    advance(milliseconds) {
      if (!(milliseconds >= 0)) throw new RangeError('a clock moves forward only');
      time += milliseconds;
    },
  };
}

const idDigits = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const idLength = 26;

/** Creates identifiers in the form of the service: a prefix and 26 digits that increase. */
export function createIds(): (prefix: string) => string {
  let count = 0;
  return function nextId(prefix) {
    count += 1;
    let text = '';
    for (let rest = count; text.length < idLength; rest = Math.floor(rest / 32)) {
      text = `${idDigits[rest % 32]}${text}`;
    }
    return `${prefix}_${text}`;
  };
}

/** A text that a test cannot guess, for tokens and secrets. */
export function createSecret(prefix: string): string {
  return `${prefix}_${randomBytes(24).toString('base64url')}`;
}
