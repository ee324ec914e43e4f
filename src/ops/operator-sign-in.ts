import { createHash, timingSafeEqual } from 'node:crypto';
import type { Context } from 'koa';
import { DomainError } from '../../packages/core/src/domain/errors.ts';
import { addressKey } from '../transports/http/address-key.ts';

const operatorName = 'operator';

/** Wrong passwords per address and period, and the number of addresses to remember. */
const guessLimits = { wrong: 10, periodMs: 600_000, addresses: 10_000 };

/**
 * Checks the operator's password.
 * @throws {DomainError} UNAUTHORIZED, or RATE_LIMITED after too many wrong passwords from one address.
 */
export type OperatorSignIn = (ctx: Context) => void;

/**
 * Operator sign-in with HTTP Basic (RFC 7617), which browsers, Prometheus and curl support. Wrong passwords are counted in this process, so
 * that the operator pages work while other parts are down.
 */
export function createOperatorSignIn(password: string): OperatorSignIn {
  const expected = digest(`${operatorName}:${password}`);
  const guesses = new Map<string, { wrong: number; until: number }>();

  function guessesOf(address: string) {
    const counter = guesses.get(address);
    if (counter && Date.now() < counter.until) return counter;
    guesses.delete(address);
    const next = { wrong: 0, until: Date.now() + guessLimits.periodMs };
    guesses.set(address, next);
    for (const oldest of guesses.keys()) {
      if (guesses.size <= guessLimits.addresses) break;
      guesses.delete(oldest);
    }
    return next;
  }

  return function signIn(ctx) {
    const credentials = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(ctx.get('Authorization'))?.[1];
    if (credentials !== undefined) {
      const before = guessesOf(addressKey(ctx));
      if (before.wrong >= guessLimits.wrong) {
        const retry_after = Math.max(1, Math.ceil((before.until - Date.now()) / 1_000));
        throw new DomainError('RATE_LIMITED', 'Too many wrong passwords; try again later.', { retry_after });
      }
      if (timingSafeEqual(digest(Buffer.from(credentials, 'base64')), expected)) return;
      before.wrong += 1;
    }
    ctx.set('WWW-Authenticate', 'Basic realm="operator", charset="UTF-8"');
    throw new DomainError('UNAUTHORIZED', 'This needs the name and password of the operator.');
  };
}

function digest(text: string | Buffer): Buffer {
  return createHash('sha256').update(text).digest();
}
