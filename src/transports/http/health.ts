import type { Context, Middleware, Next } from 'koa';
import { withTimeout } from '../../shared/timeout.ts';

export interface HealthCheck {
  part: string;
  /** Whether calls can be served without it. While one such part fails the process is degraded, and ready all the same. */
  isOptional?: boolean;
  /** Rejects with what is wrong. */
  check(): Promise<unknown>;
}

const checkTimeoutMs = 2_000;

/**
 * `/livez` answers as long as the process does; `/readyz` asks every part, and says 503 while one that calls cannot do without
 * fails, or the process stops. A balancer that watches `/readyz` sends nothing more to a process that stops.
 */
export function serveHealth(checks: readonly HealthCheck[], stopping: () => boolean): Middleware {
  let asking: Promise<('ok' | 'failed' | 'slow')[]> | undefined;

  /** Whoever asks meanwhile shares the check under way. */
  function ask() {
    asking ??= Promise.all(checks.map(({ check }) => runCheck(check))).finally(() => {
      asking = undefined;
    });
    return asking;
  }

  async function ready(ctx: Context): Promise<void> {
    const outcomes = await ask();
    const failed = checks.filter((_, index) => outcomes[index] !== 'ok');
    const status = statusOf(failed, stopping());
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

function statusOf(failed: readonly HealthCheck[], stopping: boolean) {
  if (stopping) return 'stopping';
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
