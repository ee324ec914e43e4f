import { Router } from '@koa/router';
import type { Context, Middleware } from 'koa';
import { DomainError } from '../../domain/errors.ts';
import type { Person } from '../../domain/auth/actor.ts';
import { answerErrors } from '../http/errors.ts';
import { formBody, formOf } from '../http/form-body.ts';
import type { FeedWatch } from '../../realtime/feed-watch.ts';
import { createLiveStreams } from './live-streams.ts';
import { createBrowserSessions } from './browser-sessions.ts';
import { errorPage } from './pages/error.tsx';
import type { PageParts } from './parts.ts';
import { countOpenApprovals } from '../../services/people/dashboard.ts';
import type { Answer, ConsoleRoute } from './route.ts';
import { consoleRoutes } from './routes.ts';
import type { PageRenderer } from './renderer.tsx';

export interface ConsoleParts extends Omit<PageParts, 'sessions' | 'knownBrowsers' | 'live'> {
  renderer: PageRenderer;
  /** Wake-ups of the feeds that live pages show. */
  watch: FeedWatch;
  /** Ends live pages; browsers then connect to another process. */
  draining: AbortSignal;
  logger: Parameters<typeof answerErrors>[0];
}

const consolePaths = /^\/(?:sign-in|sign-up|sign-out|console|assets|authorize\/requests)(?:\/|$)/;

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
  const { renderer, limits, logger } = parts;
  const sessions = createBrowserSessions(parts.unitOfWork);
  const router = new Router({ sensitive: true });

  /** For pages with the navigation. */
  async function countApprovals(person: Person | undefined, answer: Answer): Promise<number> {
    const hasNavigation =
      answer !== 'handled' && 'body' in answer && (answer.shell ?? 'console') === 'console';
    if (!person || !hasNavigation) return 0;
    return parts.unitOfWork.readAsSystem((all) => countOpenApprovals(all, person.account_id));
  }

  function endpoint(route: ConsoleRoute): Middleware {
    return async function handlePage(ctx) {
      const person = personOf(ctx);
      const form = formOf(ctx);
      if (route.method === 'POST') renderer.csrf.check(ctx, person, form.get('csrf'));
      if (person) await limits.consume('default', person.account_id);
      const params = ctx['params'] as Record<string, string>;
      const query = new URLSearchParams(ctx.querystring);
      const answer = await route.answer({ ctx, params, query, form, person });
      renderer.render(ctx, person, answer, await countApprovals(person, answer));
    };
  }

  const live = createLiveStreams({
    unitOfWork: parts.unitOfWork,
    watch: parts.watch,
    renderFragment: renderer.renderFragment,
    draining: parts.draining,
  });
  const routes = consoleRoutes({ ...parts, live, sessions, knownBrowsers: renderer.knownBrowsers });
  for (const route of routes) {
    const body = route.method === 'POST' ? [formBody(route.max_form_bytes)] : [];
    router.register(route.path, [route.method], [...body, endpoint(route)]);
  }
  const dispatch = router.routes() as Middleware;

  const errors = answerErrors(logger, (ctx, error, request_id) => {
    renderer.render(ctx, personOf(ctx), errorPage(error, request_id));
  });

  async function serve(ctx: Context): Promise<void> {
    if (renderer.assets.serve(ctx)) return;
    ctx.state['person'] = await sessions.find(ctx);
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
