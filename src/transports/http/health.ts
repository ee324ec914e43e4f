import type { Context, Middleware, Next } from 'koa';
import { withTimeout } from '../../shared/timeout.ts';

export interface HealthCheck {
  part: string;
  /** Whether requests can be served without this part. While it fails, the process is degraded but ready. */
  isOptional?: boolean;
  /** Rejects when the part does not work. */
  check(): Promise<unknown>;
}

const checkTimeoutMs = 2_000;

/**
 * `/livez` returns 200 while the process responds. `/readyz` checks every part, and returns 503 while a required one fails or
 * the process is shutting down, so that a load balancer stops sending requests to it.
 */
export function serveHealth(checks: readonly HealthCheck[], isStopping: () => boolean): Middleware {
  let running: Promise<('ok' | 'failed' | 'slow')[]> | undefined;

  /** Concurrent requests share one check. */
  function runChecks() {
    running ??= Promise.all(checks.map(({ check }) => runCheck(check))).finally(() => {
      running = undefined;
    });
    return running;
  }

  async function ready(ctx: Context): Promise<void> {
    const outcomes = await runChecks();
    const failed = checks.filter((_, index) => outcomes[index] !== 'ok');
    const status = statusOf(failed, isStopping());
    ctx.status = status === 'ok' || status === 'degraded' ? 200 : 503;
    ctx.body = {
      status,
      parts: Object.fromEntries(checks.map(({ part }, index) => [part, outcomes[index]])),
    };
  }
  return async function health(ctx: Context, next: Next): Promise<void> {
    if (ctx.path === '/livez') ctx.body = { status: 'ok' };
    else if (ctx.path === '/readyz') await ready(ctx);
    else await next();
  };
}

function statusOf(failed: readonly HealthCheck[], isStopping: boolean) {
  if (isStopping) return 'stopping';
  if (failed.length === 0) return 'ok';
  return failed.every((check) => check.isOptional) ? 'degraded' : 'unavailable';
}

async function runCheck(check: () => Promise<unknown>): Promise<'ok' | 'failed' | 'slow'> {
  const outcome = check().then(
    () => 'ok' as const,
    () => 'failed' as const,
  );
  return withTimeout(checkTimeoutMs, outcome, () => 'slow' as const);
}
