import { randomBytes } from 'node:crypto';
import type { Context } from 'koa';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import type { Person } from '../../../packages/core/src/domain/auth/actor.ts';
import type { Signer } from '../../shared/signer.ts';
import { cookieOf, setCookie } from './cookies.ts';

export interface Csrf {
  /** The value of the form field `csrf`. Without a session it is bound to a browser cookie, which is set if missing. */
  tokenFor(ctx: Context, person: Person | undefined): string;
  /** Whether the browser says that a page of this site sent the request. */
  isSameOrigin(ctx: Context): boolean;
  /**
   * Accepts only forms of this site from the same browser and session.
   * @throws {DomainError} FORBIDDEN
   */
  check(ctx: Context, person: Person | undefined, token: string | null): void;
}

const cookiePattern = /^[\w-]{22}$/;

/**
 * Protects forms against cross-site request forgery with two checks: the origin that the browser reports, and a signed token in
 * the form.
 */
export function createCsrf({ sign, verify }: Signer, public_url: string): Csrf {
  const { origin: ownOrigin, host: ownHost } = new URL(public_url);

  /** What a form is bound to: the session, or the browser before sign-in. */
  function bindingOf(ctx: Context, person: Person | undefined): string | undefined {
    if (person) return `session:${person.session_id}`;
    const browser = cookieOf(ctx, 'browser');
    return browser !== undefined && cookiePattern.test(browser) ? `browser:${browser}` : undefined;
  }
  function isSameOrigin(ctx: Context): boolean {
    const site = ctx.get('Sec-Fetch-Site');
    if (site !== '' && site !== 'same-origin') return false;
    const origin = ctx.get('Origin');
    if (origin === '') return site === 'same-origin';
    return origin === ownOrigin || origin === `${ctx.protocol}://${ctx.host}`;
  }

  /** Names the right address if the browser uses another one, for which cookies or the origin do not match. */
  function addressHint(ctx: Context): string {
    return ctx.host === ownHost ? '' : ` The address of this service is ${ownOrigin}.`;
  }

  return {
    isSameOrigin,
    tokenFor(ctx, person) {
      const binding = bindingOf(ctx, person);
      if (binding !== undefined) return sign(binding);
      const browser = randomBytes(16).toString('base64url');
      setCookie(ctx, 'browser', browser);
      return sign(`browser:${browser}`);
    },
    check(ctx, person, token) {
      if (!isSameOrigin(ctx)) {
        throw invalidFormError(`It was sent from another site. Nothing was changed.${addressHint(ctx)}`);
      }
      const binding = bindingOf(ctx, person);
      if (binding === undefined || !verify(binding, token ?? '')) {
        throw invalidFormError(
          `You signed in or out after opening the page, or this browser blocks cookies. Nothing was changed. Reload the page and submit the form again.${addressHint(ctx)}`,
        );
      }
    },
  };
}

function invalidFormError(reason: string): DomainError {
  return new DomainError('FORBIDDEN', `This form was not accepted. ${reason}`);
}
