import { randomBytes } from 'node:crypto';
import { idPrefixes, type IdKind } from '../../../../core/src/domain/ids.ts';
import type { FakeClock } from '../types.ts';

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

/** Creates identifiers in the form of the service, which increase. */
export function createIds(): (kind: IdKind) => string {
  let count = 0;
  return function nextId(kind) {
    count += 1;
    let text = '';
    for (let rest = count; text.length < idLength; rest = Math.floor(rest / 32)) {
      text = `${idDigits[rest % 32]}${text}`;
    }
    return `${idPrefixes[kind]}_${text}`;
  };
}

/** A text that a test cannot guess, for tokens and secrets. */
export function createSecret(prefix: string): string {
  return `${prefix}_${randomBytes(24).toString('base64url')}`;
}
