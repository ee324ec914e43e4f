import type { Context, Middleware } from 'koa';
import type { JobQueues } from '../platform/queues/job-queues.ts';
import { queueDashboardPath } from './middleware.ts';

/** Only its own files: the page would load fonts from another host. */
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
 * The read-only queue dashboard. Jobs are retried with `ams queue retry`, which needs no protection against CSRF. The dashboard is loaded on
 * the first request.
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
    // The published type has only queues in Redis; the adapter also works with those in PostgreSQL.
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
