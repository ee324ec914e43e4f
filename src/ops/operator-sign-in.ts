import { createHash, timingSafeEqual } from 'node:crypto';
import type { Context } from 'koa';
import { DomainError } from '../domain/errors.ts';
import { addressKey } from '../transports/http/address-key.ts';

/** The name that goes with the password. */
const operatorName = 'operator';

/** Wrong passwords that an address may give in a period, and addresses that are remembered. */
const guessLimits = { wrong: 10, period_ms: 600_000, addresses: 10_000 };

/**
 * Refuses a request that does not bring the operator's password.
 * @throws {DomainError} UNAUTHORIZED, or RATE_LIMITED for addresses that have guessed.
 */
export type OperatorSignIn = (ctx: Context) => void;

/**
 * Sign-in of the operator by HTTP Basic (RFC 7617): browsers, Prometheus and curl can all do it. Guesses are counted in this process,
 * since what an operator looks at must not depend on a part that may be away.
 */
export function createOperatorSignIn(password: string): OperatorSignIn {
  const right = digest(`${operatorName}:${password}`);
  const guesses = new Map<string, { wrong: number; until: number }>();

  /** The wrong passwords of an address in the period that runs. */
  function guessesOf(address: string) {
    const known = guesses.get(address);
    if (known && Date.now() < known.until) return known;
    guesses.delete(address);
    const fresh = { wrong: 0, until: Date.now() + guessLimits.period_ms };
    guesses.set(address, fresh);
    for (const oldest of guesses.keys()) {
      if (guesses.size <= guessLimits.addresses) break;
      guesses.delete(oldest);
    }
    return fresh;
  }

  return function signIn(ctx) {
    const given = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(ctx.get('Authorization'))?.[1];
    if (given !== undefined) {
      const before = guessesOf(addressKey(ctx));
      if (before.wrong >= guessLimits.wrong) {
        const retry_after = Math.max(1, Math.ceil((before.until - Date.now()) / 1_000));
        throw new DomainError('RATE_LIMITED', 'Too many wrong passwords; try again later.', { retry_after });
      }
      if (timingSafeEqual(digest(Buffer.from(given, 'base64')), right)) return;
      before.wrong += 1;
    }
    ctx.set('WWW-Authenticate', 'Basic realm="operator", charset="UTF-8"');
    throw new DomainError('UNAUTHORIZED', 'This needs the name and password of the operator.');
  };
}

function digest(text: string | Buffer): Buffer {
  return createHash('sha256').update(text).digest();
}
