import type { ComponentChildren } from 'preact';
import type { Context } from 'koa';
import type { Person } from '../../../packages/core/src/domain/auth/actor.ts';
import type { ServiceCalls, WriteService } from '../../services/people/service-calls.ts';
import type { filesOf } from '../http/form-body.ts';
import type { Flash } from './flash.ts';
import type { PageParts } from './parts.ts';

/** One request to a page. */
export interface Visit {
  ctx: Context;
  /** Path parameters. */
  params: Record<string, string>;
  query: URLSearchParams;
  /** Form fields; empty without a form. */
  form: URLSearchParams;
  /** The files of a form, which are read from the request one after the other. */
  files: ReturnType<typeof filesOf>;
  person: Person | undefined;
  parts: PageParts;
  /** Calls a service that reads. */
  read: ServiceCalls['read'];
  /** Calls a service that changes something, as the person. */
  write<Input extends unknown[], T>(service: WriteService<Input, T>, ...input: Input): Promise<T>;
}

/** A request of a signed-in person. */
export interface PersonVisit extends Visit {
  person: Person;
}

/** The page layout: with the console navigation, for a single task, the start page, or the page of a watch link, which leads nowhere. */
export type Shell = 'console' | 'focus' | 'start' | 'watch';

export interface ShownPage {
  title: string;
  body: ComponentChildren;
  /** Default: `console` if signed in, else `focus`. */
  shell?: Shell;
  /** Default 200. */
  status?: number;
  /** Seconds, for the Retry-After header. */
  retry_after?: number | undefined;
  /** Whether the icon shows that something waits for the person. */
  hasNews?: boolean;
  /** Whether it asks for a password. The script then shows it on demand. */
  asksPassword?: boolean;
  /** Whether the answer to its form leads to another site, which may redirect further. */
  form_leaves?: boolean;
}

export interface Redirect {
  /** A path of this service. */
  to: string;
  /** A message about a success, for the next page. */
  flash?: string;
  /** The form that takes it back. */
  undo?: Flash['undo'];
  /** A message about a failure, for the next page. */
  warning?: string;
}

/** The result of a route. `handled`: the route has written the response itself. */
export type Answer = ShownPage | Redirect | 'handled';

export interface ConsoleRoute {
  method: 'GET' | 'POST';
  /** Path with `:name` parameters. */
  path: string;
  /** Whether only signed-in people can use it. */
  for_people: boolean;
  /** Maximum size of the form, in bytes. */
  maxFormBytes: number;
  /** Whether its form has files. */
  takesFiles?: boolean;
  answer(visit: Visit): Answer | Promise<Answer>;
}

const defaultMaxFormBytes = 16 * 1024;

type PublicHandler = (visit: Visit) => Answer | Promise<Answer>;
type PersonHandler = (visit: PersonVisit) => Answer | Promise<Answer>;

/** A page without sign-in. */
export function publicPage(path: string, answer: PublicHandler): ConsoleRoute {
  return { method: 'GET', path, for_people: false, maxFormBytes: defaultMaxFormBytes, answer };
}

/**
 * A form handler without sign-in. CSRF is already checked.
 * @param maxFormBytes maximum size of the form; default 16 KiB.
 */
export function publicAction(
  path: string,
  answer: PublicHandler,
  maxFormBytes = defaultMaxFormBytes,
): ConsoleRoute {
  return { method: 'POST', path, for_people: false, maxFormBytes, answer };
}

/** A page for signed-in people. Others sign in first and return. */
export function page(path: string, answer: PersonHandler): ConsoleRoute {
  return publicPage(path, (visit) =>
    isSignedIn(visit) ? answer(visit) : { to: signInAddress(visit.ctx.originalUrl) },
  );
}

/**
 * A form handler for signed-in people. Others sign in first, and then see the form again with what they entered.
 * @param maxFormBytes maximum size of the form; default 16 KiB.
 * @param takesFiles whether it also has files.
 */
export function action(
  path: string,
  answer: PersonHandler,
  maxFormBytes = defaultMaxFormBytes,
  takesFiles = false,
): ConsoleRoute {
  const guarded: PublicHandler = (visit) => {
    if (!isSignedIn(visit)) throw new Error('a form without a session reached its handler');
    return answer(visit);
  };
  return { ...publicAction(path, guarded, maxFormBytes), for_people: true, takesFiles };
}

/** The sign-in address that returns to `to`. */
export function signInAddress(to: string): string {
  return `/sign-in?${new URLSearchParams({ to }).toString()}`;
}

function isSignedIn(visit: Visit): visit is PersonVisit {
  return visit.person !== undefined;
}
const defaultPath = '/console';
const allowedPaths = /^\/(?:console(?:\/.*)?|authorize\/requests\/[\w-]+)$/;

/** Base for resolving return paths. A path stays on this reserved host. */
const placeholderOrigin = 'http://base.invalid';

/**
 * The path to return to after sign-in: a console page or an authorization request. Anything else becomes /console, to avoid an open
 * redirect.
 */
export function safeReturnPath(to: string | null): string {
  if (to === null || !to.startsWith('/') || !URL.canParse(to, placeholderOrigin)) return defaultPath;
  // URL parses like a browser: it removes tabs and newlines, treats backslashes as slashes and resolves dots.
  const url = new URL(to, placeholderOrigin);
  return url.origin === placeholderOrigin && allowedPaths.test(url.pathname)
    ? url.pathname + url.search
    : defaultPath;
}
