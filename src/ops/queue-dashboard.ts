import type { Context, Middleware } from 'koa';
import type { JobQueues } from '../platform/queues/job-queues.ts';
import { queueDashboardPath } from './middleware.ts';

/** Its own files and nothing else: the page asks for fonts elsewhere, which nobody needs. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * The queue dashboard, to look at only: a job that is wanted again is named to `ams queue retry`, which nobody can be tricked into
 * by a page of a stranger. Nothing of it is loaded before somebody looks.
 */
export function createQueueDashboard(queues: Pick<JobQueues, 'dashboardQueues'>): Middleware {
  let opened: Promise<Middleware> | undefined;

  async function open(): Promise<Middleware> {
    const [{ createBullBoard }, { BullMQAdapter }, { KoaAdapter }] = await Promise.all([
      import('@bull-board/api'),
      import('@bull-board/api/bullMQAdapter'),
      import('@bull-board/koa'),
    ]);
    const server = new KoaAdapter().setBasePath(queueDashboardPath);
    // The published type knows queues in Redis only; the adapter itself takes those in PostgreSQL as well.
    const shown = (await queues.dashboardQueues()) as ConstructorParameters<typeof BullMQAdapter>[0][];
    createBullBoard({
      queues: shown.map((queue) => new BullMQAdapter(queue, { readOnlyMode: true })),
      serverAdapter: server,
      options: { uiConfig: { boardTitle: 'Queues', boardLogo: { path: '', width: 0, height: 0 } } },
    });
    return server.registerPlugin();
  }

  return async function board(ctx: Context, next) {
    opened ??= open().catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    const show = await opened;
    ctx.set('Content-Security-Policy', contentSecurityPolicy);
    ctx.set('Referrer-Policy', 'no-referrer');
    await show(ctx, next);
  };
}
