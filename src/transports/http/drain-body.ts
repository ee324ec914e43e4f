import type { Context, Next } from 'koa';

/** How long a refused caller may go on sending, in milliseconds. */
const drainTimeoutMs = 5_000;

/**
 * For routes that take long bodies: reads and drops what still arrives of one that was refused, so that the caller gets to read
 * why; whoever goes on and on is cut off.
 */
export async function drainRefusedBody(ctx: Context, next: Next): Promise<void> {
  try {
    await next();
  } finally {
    drain(ctx);
  }
}

function drain(ctx: Context): void {
  const { req } = ctx;
  if (req.complete || req.destroyed) return;
  req.resume();
  const cut = setTimeout(() => req.socket.destroy(), drainTimeoutMs).unref();
  req.once('close', () => clearTimeout(cut));
}
