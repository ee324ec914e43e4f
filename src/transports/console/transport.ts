import { Router } from '@koa/router';
import type { Context, Middleware } from 'koa';
import {
  attachmentTooLarge,
  maxAttachmentBytes,
  maxAttachments,
} from '../../../packages/core/src/domain/attachments/attachments.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import type { Person } from '../../../packages/core/src/domain/auth/actor.ts';
import { answerErrors } from '../http/errors.ts';
import { filesOf, formBody, formOf } from '../http/form-body.ts';
import type { FeedWatch } from '../../realtime/feed-watch.ts';
import { createLiveStreams } from './live-streams.ts';
import { createBrowserSessions } from './browser-sessions.ts';
import { keepForm, keptFormPath, maxKeptFormBytes, readKeptForm, showWithKeptForm } from './kept-form.ts';
import { errorPage } from './pages/error.tsx';
import { watchErrorPage } from './pages/watching/watch-page.tsx';
import { signInForForm } from './pages/people/sign-in.tsx';
import type { PageParts } from './parts.ts';
import { countOpenApprovals } from '../../services/people/dashboard.ts';
import { hasBrowserNotifications } from '../../services/notifications/settings.ts';
import { unsubscribeByPost, unsubscribePath } from './pages/notifications/links.tsx';
import { type Answer, type ConsoleRoute, safeReturnPath, type Visit } from './route.ts';
import { consoleRoutes } from './routes.ts';
import { type PageRenderer, type PersonState, watchPaths } from './renderer.tsx';

export interface ConsoleParts extends Omit<PageParts, 'sessions' | 'knownBrowsers' | 'live'> {
  renderer: PageRenderer;
  /** Wake-ups of the feeds that live pages show. */
  watch: FeedWatch;
  /** How long a browser may pause while it sends files, in milliseconds. */
  upload_idle_ms: number;
  /** How long a stream lasts that says that a page is open, in milliseconds. */
  leasedStreamMs: number;
  /** Ends live pages; browsers then connect to another process. */
  draining: AbortSignal;
  logger: Parameters<typeof answerErrors>[0];
}

const consolePaths =
  /^\/(?:sign-in|sign-up|sign-out|console|notifications|watch|assets|authorize\/requests)(?:\/|$)/;

/** Errors of the API are JSON, whatever the client accepts. */
const programPaths = /^\/(?:v1|mcp)(?:\/|$)/;

export interface ConsoleTransport {
  middleware: Middleware;
  /** Every page and form that it serves. */
  routes: readonly ConsoleRoute[];
}

/**
 * Serves the pages for people: sign-in, consent and the console. Pages work without scripts; one script updates their live parts. Calls `next` for other paths, and
 * for `/` unless the client prefers HTML, and shows a page to browsers if nothing serves the path outside of the API.
 */
export function createConsoleTransport(parts: ConsoleParts): ConsoleTransport {
  const { renderer, services, limits, logger } = parts;
  const sessions = createBrowserSessions(services);
  const router = new Router({ sensitive: true });
  const keptForms = createKeptForms(router, parts);

  function endpoint(route: ConsoleRoute): Middleware {
    return async function handlePage(ctx) {
      const person = personOf(ctx);
      const form = formOf(ctx);
      if (route.for_people && !person && keptForms.refuse(ctx, form)) return;
      if (route.method === 'POST') renderer.csrf.check(ctx, person, form.get('csrf'));
      if (person) await limits.consume('default', person.account_id);
      const answer = returnTo(form, await route.answer(createVisit(pageParts, ctx, person, form)));
      renderer.render(ctx, personOf(ctx), answer, await readState(parts, person, answer));
    };
  }

  const live = createLiveStreams({
    services,
    watch: parts.watch,
    renderFragment: renderer.renderFragment,
    leasedStreamMs: parts.leasedStreamMs,
    draining: parts.draining,
  });
  const pageParts = { ...parts, live, sessions, knownBrowsers: renderer.knownBrowsers };
  const routes = consoleRoutes(pageParts);

  const fileLimits = {
    max_bytes: maxAttachments * maxAttachmentBytes,
    tooLarge: attachmentTooLarge(),
    idle_ms: parts.upload_idle_ms,
  };
  for (const route of routes) {
    const readForm = () => formBody(route.maxFormBytes, route.takesFiles ? fileLimits : undefined);
    const body = route.method === 'POST' ? [readForm()] : [];
    router.register(route.path, [route.method], [...body, endpoint(route)]);
  }
  // Mail programs send this form (RFC 8058), so it has no token of a page.
  router.post(unsubscribePath, async (ctx) => {
    const visit = createVisit(pageParts, ctx, undefined, new URLSearchParams());
    renderer.render(ctx, undefined, await unsubscribeByPost(visit));
  });
  router.post(keptFormPath, formBody(maxKeptFormBytes), (ctx) =>
    keptForms.show(ctx, () => dispatch(ctx, () => rejectUnrouted(router, ctx)) as Promise<unknown>),
  );
  const dispatch = router.routes() as Middleware;

  const errors = answerErrors(logger, (ctx, error, request_id) => {
    const page = watchPaths.test(ctx.path) ? watchErrorPage(error) : errorPage(error, request_id);
    renderer.render(ctx, personOf(ctx), page);
  });

  async function serve(ctx: Context): Promise<void> {
    if (renderer.assets.serve(ctx)) return;
    // A watch link shows the same to everybody, whatever the session.
    ctx.state['person'] = watchPaths.test(ctx.path) ? undefined : await sessions.find(ctx);
    await dispatch(ctx, () => rejectUnrouted(router, ctx));
  }

  /** Browsers get a page for a path that nothing serves. */
  async function rejectAsPage(ctx: Context): Promise<void> {
    renderer.prepare(ctx);
    ctx.vary('Accept');
    await errors(ctx, () => rejectUnrouted(router, ctx));
  }

  const middleware: Middleware = async function servePages(ctx, next) {
    const isStartPage = ctx.path === '/' && prefersHtml(ctx);
    if (ctx.path === '/') ctx.vary('Accept');
    if (!isStartPage && !consolePaths.test(ctx.path)) {
      await next();
      if (isUnanswered(ctx) && prefersHtml(ctx) && !programPaths.test(ctx.path)) await rejectAsPage(ctx);
      return;
    }
    renderer.prepare(ctx);
    return errors(ctx, () => serve(ctx));
  };
  return { middleware, routes };
}

/** A button of a list of different things returns to that list. */
function returnTo(form: URLSearchParams, answer: Answer): Answer {
  const to = form.get('return_to');
  return to !== null && typeof answer === 'object' && 'to' in answer
    ? { ...answer, to: safeReturnPath(to) }
    : answer;
}

function createVisit(
  parts: PageParts,
  ctx: Context,
  person: Person | undefined,
  form: URLSearchParams,
): Visit {
  return {
    ctx,
    params: ctx['params'] as Record<string, string>,
    query: new URLSearchParams(ctx.querystring),
    form,
    files: filesOf(ctx),
    person,
    parts,
    read: parts.services.read,
    write: (service, ...input) => parts.services.write(person, service, ...input),
  };
}

/** What pages with the navigation show of the person. */
async function readState(
  { services }: Pick<ConsoleParts, 'services'>,
  person: Person | undefined,
  answer: Answer,
): Promise<PersonState | undefined> {
  const hasNavigation = answer !== 'handled' && 'body' in answer && (answer.shell ?? 'console') === 'console';
  if (!person || !hasNavigation) return undefined;
  const [openApprovals, notifies] = await Promise.all([
    services.read(countOpenApprovals, person.account_id),
    services.read(hasBrowserNotifications, person.account_id),
  ]);
  return { openApprovals, notifies };
}

/** Refuses forms that are sent without a session, and shows them again after the sign-in. */
function createKeptForms(router: Router, parts: ConsoleParts) {
  const { renderer } = parts;

  /** The page that a form was sent from, or the page of the same path. */
  function findPage(ctx: Context): string {
    const address = ctx.get('Referer');
    const from = URL.canParse(address) ? [new URL(address)] : [];
    const candidates = [...from.map(({ pathname, search }) => pathname + search), ctx.path];
    const isPage = (path: string) => router.match(path.replace(/\?.*/, ''), 'GET').pathAndMethod.length > 0;
    return candidates.find(isPage) ?? '/console';
  }

  return {
    /** Shows the sign-in page. @returns whether it did: only forms of this site are kept. */
    refuse(ctx: Context, form: URLSearchParams): boolean {
      if (!renderer.csrf.isSameOrigin(ctx)) return false;
      const kept =
        ctx.path === keptFormPath ? readKeptForm(form.get('kept')) : keepForm(ctx, form, findPage(ctx));
      if (!kept) return false;
      renderer.render(ctx, undefined, signInForForm(parts, kept));
      return true;
    },
    /** Makes the request one for the page of a kept form, which then answers as if it were opened. */
    async show(ctx: Context, next: () => Promise<unknown>): Promise<void> {
      const [person, form] = [personOf(ctx), formOf(ctx)];
      if (!person && this.refuse(ctx, form)) return;
      renderer.csrf.check(ctx, person, form.get('csrf'));
      const kept = readKeptForm(form.get('kept'));
      if (!kept) throw new DomainError('VALIDATION_ERROR', 'This form cannot be shown again. Open its page.');
      showWithKeptForm(ctx, kept);
      Object.assign(ctx, { method: 'GET', url: kept.page });
      ctx.request.body = null;
      await next();
    },
  };
}

function prefersHtml(ctx: Context): boolean {
  return ctx.accepts('application/json', 'text/html') === 'text/html';
}

/** Whether no handler has served the request. */
function isUnanswered(ctx: Context): boolean {
  return ctx.status === 404 && ctx.body === undefined && ctx.respond !== false;
}

function personOf(ctx: Context): Person | undefined {
  return (ctx.state as { person?: Person }).person;
}

/** Answers a path or method without a route. @throws {DomainError} NOT_FOUND or METHOD_NOT_ALLOWED */
async function rejectUnrouted(router: Router, ctx: Context): Promise<never> {
  const methods = new Set(router.match(ctx.path, ctx.method).path.flatMap((layer) => layer.methods));
  if (methods.size === 0) throw new DomainError('NOT_FOUND', 'This page does not exist.');
  const allowed = [...methods].join(', ');
  ctx.set('Allow', allowed);
  throw new DomainError('METHOD_NOT_ALLOWED', `${ctx.path} allows ${allowed}.`);
}
