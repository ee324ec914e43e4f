import type { Context, Next } from 'koa';

/** How long a client may continue to send after an error response, in milliseconds. */
const drainTimeoutMs = 5_000;

/**
 * For routes with large bodies: reads and discards the rest of a rejected body, so that the client gets to read the response.
 * Cuts the connection after five seconds.
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
