import { randomBytes } from 'node:crypto';
import type { Context } from 'koa';
import type { Signer } from '../../shared/signer.ts';
import { cookieOf, setCookie } from './cookies.ts';

/** Browsers in which a person signed in before: wrong passwords from elsewhere must not keep the person out of them. */
export interface KnownBrowsers {
  /** Marks this browser as one in which the person signed in. */
  remember(ctx: Context, username: string): void;
  /** An id of this browser, if the person signed in with it within 180 days. */
  find(ctx: Context, username: string): string | undefined;
}

const lifeMs = 180 * 24 * 60 * 60 * 1000;
const cookiePattern = /^([\w-]{22})\.(\d{13,15})\.([\w-]{43})$/;

/** Keeps the mark in a signed cookie, so that nothing is stored. It does not sign anyone in. */
export function createKnownBrowsers(signer: Signer, now = Date.now): KnownBrowsers {
  const toText = (id: string, expires: string, username: string) => `known:${id}:${expires}:${username}`;
  return {
    remember(ctx, username) {
      const id = randomBytes(16).toString('base64url');
      const expires = String(now() + lifeMs);
      const signature = signer.sign(toText(id, expires, username));
      setCookie(ctx, 'known', `${id}.${expires}.${signature}`, lifeMs);
    },
    find(ctx, username) {
      const [, id = '', expires = '', signature = ''] =
        cookiePattern.exec(cookieOf(ctx, 'known') ?? '') ?? [];
      if (id === '' || Number(expires) <= now()) return undefined;
      return signer.verify(toText(id, expires, username), signature) ? id : undefined;
    },
  };
}
