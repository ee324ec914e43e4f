import { authorFromPerson } from '../../domain/auth/audit.ts';
import type { Context } from 'koa';
import type { Person } from '../../domain/auth/actor.ts';
import {
  endSession,
  findPerson,
  openSession,
  sessionLifeMs,
  touchSession,
} from '../../services/people/sessions.ts';
import type { UnitOfWork } from '../../work/unit-of-work.ts';
import { cookieOf, setCookie } from './cookies.ts';

export interface BrowserSessions {
  /** Who is signed in in this browser. */
  find(ctx: Context): Promise<Person | undefined>;
  /** Signs somebody in who has just proved who they are: always with a new token, never one that the browser brought along. */
  begin(ctx: Context, account_id: string): Promise<void>;
  /** Signs this browser out; its cookie is worth nothing from then on. */
  end(ctx: Context): Promise<void>;
}

const touchIntervalMs = 300_000;

const maxRememberedSessions = 10_000;
const tokenPattern = /^[\w-]{43}$/;

/** The sign-ins of browsers, as sessions and the cookies that name them. */
export function createBrowserSessions(unitOfWork: UnitOfWork, now = Date.now): BrowserSessions {
  /** When each session was last noted as used, by this process. */
  const touched = new Map<string, number>();

  async function touch(ctx: Context, person: Person, cookie: string): Promise<void> {
    const time = now();
    if ((touched.get(person.session_id) ?? 0) > time - touchIntervalMs) return;
    touched.delete(person.session_id);
    touched.set(person.session_id, time);
    for (const oldest of touched.keys()) {
      if (touched.size <= maxRememberedSessions) break;
      touched.delete(oldest);
    }
    await unitOfWork.writeAsSystem((work) => touchSession(work, person.session_id));
    setCookie(ctx, 'session', cookie, sessionLifeMs);
  }

  return {
    async find(ctx) {
      const cookie = cookieOf(ctx, 'session');
      if (cookie === undefined || !tokenPattern.test(cookie)) return undefined;
      const person = await unitOfWork.readAsSystem((all) => findPerson(all, cookie, now()));
      if (person) await touch(ctx, person, cookie);
      return person;
    },
    async begin(ctx, account_id) {
      await this.end(ctx);
      const from = { account_id, address: ctx.ip.replace(/^::ffff:/, ''), user_agent: ctx.get('User-Agent') };
      const session = await unitOfWork.writeAsSystem(
        (work) => openSession(work, from),
        authorFromPerson(from),
      );
      setCookie(ctx, 'session', session.token, sessionLifeMs);
    },
    async end(ctx) {
      const person = await this.find(ctx);
      if (person)
        await unitOfWork.writeAsSystem((work) => endSession(work, person.account_id, person.session_id));
      setCookie(ctx, 'session', null);
      setCookie(ctx, 'browser', null);
    },
  };
}
