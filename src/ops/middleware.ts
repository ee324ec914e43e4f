import type { Context, Middleware } from 'koa';
import { DomainError } from '../../packages/core/src/domain/errors.ts';
import { isFromThisMachine } from './same-machine.ts';
import type { OperatorSignIn } from './operator-sign-in.ts';

export interface OpsParts {
  /** The text of the metrics. */
  scrape(): Promise<string>;
  content_type: string;
  /** Undefined without OPERATOR_PASSWORD: sign-in is disabled. */
  signIn?: OperatorSignIn | undefined;
  /** The queue dashboard, at `queuesPath`. */
  queueDashboard: Middleware;
  /** Metrics need no sign-in: for every client of the listener, or only for programs on this machine. */
  metrics_for: 'everybody' | 'this-machine';
}

export const queueDashboardPath = '/ops/queues';

/** `/metrics`, and `/ops/queues` with the operator's password. Without OPERATOR_PASSWORD the response is 404. */
export function createOpsMiddleware(parts: OpsParts): Middleware {
  const { scrape, content_type, signIn, queueDashboard, metrics_for } = parts;

  function requireOperator(ctx: Context): void {
    if (!signIn) throw new DomainError('NOT_FOUND', `There is nothing at ${ctx.method} ${ctx.path}.`);
    signIn(ctx);
  }

  function requireRead(ctx: Context): void {
    if (ctx.method === 'GET' || ctx.method === 'HEAD') return;
    ctx.set('Allow', 'GET, HEAD');
    throw new DomainError('METHOD_NOT_ALLOWED', `${ctx.path} takes GET, HEAD.`);
  }

  return async function ops(ctx, next) {
    if (ctx.path === '/metrics') {
      if (metrics_for === 'this-machine' && !isFromThisMachine(ctx)) requireOperator(ctx);
      requireRead(ctx);
      ctx.type = content_type;
      ctx.body = await scrape();
    } else if (ctx.path === queueDashboardPath || ctx.path.startsWith(`${queueDashboardPath}/`)) {
      requireOperator(ctx);
      requireRead(ctx);
      await queueDashboard(ctx, next);
    } else {
      await next();
    }
  };
}
