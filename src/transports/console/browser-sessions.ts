import type { Context } from 'koa';
import type { Person } from '../../../packages/core/src/domain/auth/actor.ts';
import {
  endSession,
  findPerson,
  openSession,
  sessionLifeMs,
  touchSession,
} from '../../services/people/sessions.ts';
import type { ServiceCalls } from '../../services/people/service-calls.ts';
import { cookieOf, setCookie } from './cookies.ts';

export interface BrowserSessions {
  /** The signed-in person, if any. */
  find(ctx: Context): Promise<Person | undefined>;
  /** Signs a person in, always with a new token to prevent session fixation. */
  begin(ctx: Context, account_id: string): Promise<void>;
  /** Ends the session of this browser. */
  end(ctx: Context): Promise<void>;
}

const touchIntervalMs = 300_000;

const maxTouchedSessions = 10_000;
const tokenPattern = /^[\w-]{43}$/;

/** Browser sessions and their cookies. */
export function createBrowserSessions(services: ServiceCalls, now = Date.now): BrowserSessions {
  /** When this process last stored the use of each session, in ms. */
  const touched = new Map<string, number>();

  async function touch(ctx: Context, person: Person, cookie: string): Promise<void> {
    const time = now();
    if ((touched.get(person.session_id) ?? 0) > time - touchIntervalMs) return;
    touched.delete(person.session_id);
    touched.set(person.session_id, time);
    for (const oldest of touched.keys()) {
      if (touched.size <= maxTouchedSessions) break;
      touched.delete(oldest);
    }
    await services.write(undefined, touchSession, person.session_id);
    setCookie(ctx, 'session', cookie, sessionLifeMs);
  }

  return {
    async find(ctx) {
      const cookie = cookieOf(ctx, 'session');
      if (cookie === undefined || !tokenPattern.test(cookie)) return undefined;
      const person = await services.read(findPerson, cookie, now());
      if (person) await touch(ctx, person, cookie);
      return person;
    },
    async begin(ctx, account_id) {
      await this.end(ctx);
      const request = {
        account_id,
        address: ctx.ip.replace(/^::ffff:/, ''),
        user_agent: ctx.get('User-Agent'),
      };
      const session = await services.write(request, openSession, request);
      setCookie(ctx, 'session', session.token, sessionLifeMs);
      // The response of a sign-in can have a form of the new session.
      ctx.state['person'] = await services.read(findPerson, session.token, now());
    },
    async end(ctx) {
      const person = await this.find(ctx);
      if (person) await services.write(undefined, endSession, person.account_id, person.session_id);
      setCookie(ctx, 'session', null);
      setCookie(ctx, 'browser', null);
    },
  };
}
