import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Context } from 'koa';
import { DomainError } from '../../domain/errors.ts';
import type { Person } from '../../domain/auth/actor.ts';
import { cookieOf, setCookie } from './cookies.ts';

export interface Csrf {
  /** What every form carries in the field `csrf`. Somebody who is not signed in gets a browser cookie to bind it to. */
  tokenFor(ctx: Context, person: Person | undefined): string;
  /**
   * Lets only what a form of ours sent pass, from the same browser and the same sign-in.
   * @throws {DomainError} FORBIDDEN
   */
  check(ctx: Context, person: Person | undefined, given: string | null): void;
}

const cookiePattern = /^[\w-]{22}$/;

/**
 * Guards forms against other sites that send them for a person (cross-site request forgery). Twice: the browser says where the
 * request came from, and the form carries a sign that only our own pages can know.
 */
export function createCsrf(key: Buffer, public_url: string): Csrf {
  const ownOrigin = new URL(public_url).origin;

  function sign(binding: string): string {
    return createHmac('sha256', key).update(binding).digest('base64url');
  }
  /** Which sign-in a form belongs to, or which browser while nobody is signed in. */
  function bindingOf(ctx: Context, person: Person | undefined): string | undefined {
    if (person) return `session:${person.session_id}`;
    const browser = cookieOf(ctx, 'browser');
    return browser !== undefined && cookiePattern.test(browser) ? `browser:${browser}` : undefined;
  }
  function isFromHere(ctx: Context): boolean {
    const site = ctx.get('Sec-Fetch-Site');
    if (site !== '' && site !== 'same-origin') return false;
    const origin = ctx.get('Origin');
    if (origin === '') return site === 'same-origin';
    return origin === ownOrigin || origin === `${ctx.protocol}://${ctx.host}`;
  }

  return {
    tokenFor(ctx, person) {
      const known = bindingOf(ctx, person);
      if (known !== undefined) return sign(known);
      const browser = randomBytes(16).toString('base64url');
      setCookie(ctx, 'browser', browser);
      return sign(`browser:${browser}`);
    },
    check(ctx, person, given) {
      if (!isFromHere(ctx)) {
        throw refusal('It was sent from another site. Nothing was changed.');
      }
      const binding = bindingOf(ctx, person);
      if (binding === undefined || !isSame(given ?? '', sign(binding))) {
        throw refusal(
          'It is from before you signed in or out, or this browser refuses our cookies. Nothing was changed. Open the page again and send it once more.',
        );
      }
    },
  };
}

function isSame(given: string, right: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function refusal(why: string): DomainError {
  return new DomainError('FORBIDDEN', `This form was not accepted. ${why}`);
}
