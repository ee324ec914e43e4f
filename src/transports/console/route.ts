import type { ComponentChildren } from 'preact';
import type { Context } from 'koa';
import type { Person } from '../../domain/auth/person.ts';
import type { Flash } from './flash.ts';

/** One request to a page. */
export interface Visit {
  ctx: Context;
  /** Of the path. */
  params: Record<string, string>;
  query: URLSearchParams;
  /** What a form sent; empty where none did. */
  form: URLSearchParams;
  person: Person | undefined;
}

/** The same of somebody who is signed in. */
export interface PersonVisit extends Visit {
  person: Person;
}

/** How a page is framed: with the navigation of the console, or as the one thing that matters now. */
export type Shell = 'console' | 'focus' | 'start';

export interface ShownPage {
  title: string;
  body: ComponentChildren;
  /** The console's navigation when somebody is signed in, unless told otherwise. */
  shell?: Shell;
  /** 200 unless told otherwise. */
  status?: number;
  /** Seconds; becomes Retry-After. */
  retry_after?: number | undefined;
  /** Where forms of this page may lead beside this service: an origin, or a `scheme:`. */
  form_target?: string;
}

export interface Redirect {
  /** A path of this service. */
  to: string;
  /** Said at the top of the next page. */
  flash?: Flash | undefined;
}

/** What a route answers. `handled`: it has written the answer itself. */
export type Answer = ShownPage | Redirect | 'handled';

export interface ConsoleRoute {
  method: 'GET' | 'POST';
  /** With `:name` for parameters. */
  path: string;
  /** Bytes that its form may have. */
  max_form_bytes: number;
  answer(visit: Visit): Answer | Promise<Answer>;
}

const defaultMaxFormBytes = 16 * 1024;

type PublicHandler = (visit: Visit) => Answer | Promise<Answer>;
type PersonHandler = (visit: PersonVisit) => Answer | Promise<Answer>;

/** A page for everybody. */
export function publicPage(path: string, answer: PublicHandler): ConsoleRoute {
  return { method: 'GET', path, max_form_bytes: defaultMaxFormBytes, answer };
}

/** What a form does, for everybody. The frame has checked that it was sent from a page of ours in the same browser. */
export function publicAction(path: string, answer: PublicHandler): ConsoleRoute {
  return { method: 'POST', path, max_form_bytes: defaultMaxFormBytes, answer };
}

/** A page for people who are signed in; others sign in first and come back. */
export function page(path: string, answer: PersonHandler): ConsoleRoute {
  return publicPage(path, (visit) =>
    isSignedIn(visit) ? answer(visit) : { to: signInAddress(visit.ctx.originalUrl) },
  );
}

/**
 * What a form does for somebody who is signed in.
 * @param max_form_bytes bytes; 16 KiB unless told otherwise.
 */
export function action(
  path: string,
  answer: PersonHandler,
  max_form_bytes = defaultMaxFormBytes,
): ConsoleRoute {
  const guarded: PublicHandler = (visit) =>
    isSignedIn(visit)
      ? answer(visit)
      : {
          to: signInAddress('/console'),
          flash: { tone: 'warning', text: 'Sign in first, then do it again.' },
        };
  return { ...publicAction(path, guarded), max_form_bytes };
}

/** Where to sign in and come back from. */
export function signInAddress(to: string): string {
  return `/sign-in?${new URLSearchParams({ to }).toString()}`;
}

function isSignedIn(visit: Visit): visit is PersonVisit {
  return visit.person !== undefined;
}
const defaultPath = '/console';
const allowedPaths = /^\/(?:console(?:\/.*)?|authorize\/requests\/[\w-]+)$/;

/** An address that nobody can have: what is resolved against it and stays there is a path. */
const placeholderOrigin = 'http://here.invalid';

/**
 * Where to go after signing in. Only pages of the console and authorization requests: whatever else the address names, the way
 * leads to /console (an open redirect otherwise).
 */
export function safeReturnPath(given: string | null): string {
  if (given === null || !given.startsWith('/') || !URL.canParse(given, placeholderOrigin)) return defaultPath;
  // As a browser reads it: tabs and newlines vanish, backslashes are slashes, dots are resolved.
  const url = new URL(given, placeholderOrigin);
  return url.origin === placeholderOrigin && allowedPaths.test(url.pathname)
    ? url.pathname + url.search
    : defaultPath;
}
