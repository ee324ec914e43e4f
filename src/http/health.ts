import type { Context, Middleware, Next } from 'koa';

export interface HealthCheck {
  part: string;
  /** Rejects with what is wrong. */
  check(): Promise<unknown>;
}

const patience = 2_000;

/**
 * `/livez` answers as long as the process does; `/readyz` asks every part, and says 503 while one fails or the process stops.
 * A balancer that watches `/readyz` sends nothing more to a process that stops.
 */
export function healthFace(checks: readonly HealthCheck[], stopping: () => boolean): Middleware {
  async function ready(ctx: Context): Promise<void> {
    const parts = await Promise.all(
      checks.map(async ({ part, check }) => [part, await outcome(check)] as const),
    );
    const good = !stopping() && parts.every(([, result]) => result === 'ok');
    ctx.status = good ? 200 : 503;
    ctx.body = {
      status: good ? 'ok' : stopping() ? 'stopping' : 'unavailable',
      parts: Object.fromEntries(parts),
    };
  }
  return async function health(ctx: Context, next: Next): Promise<void> {
    if (ctx.path === '/livez') ctx.body = { status: 'ok' };
    else if (ctx.path === '/readyz') await ready(ctx);
    else await next();
  };
}

async function outcome(check: () => Promise<unknown>): Promise<'ok' | 'failed' | 'slow'> {
  let timer: NodeJS.Timeout | undefined;
  const slow = new Promise<'slow'>((resolve) => {
    timer = setTimeout(() => resolve('slow'), patience);
  });
  const answered = check().then(
    () => 'ok' as const,
    () => 'failed' as const,
  );
  try {
    return await Promise.race([answered, slow]);
  } finally {
    clearTimeout(timer);
  }
}
