import type { Context } from 'koa';

/** Runs with a signal that is aborted when the client disconnects or the process shuts down. */
export async function whileListening<T>(
  ctx: Context,
  draining: AbortSignal,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const abort = () => controller.abort();
  ctx.res.once('close', abort);
  draining.addEventListener('abort', abort);
  if (draining.aborted) abort();
  try {
    return await run(controller.signal);
  } finally {
    ctx.res.off('close', abort);
    draining.removeEventListener('abort', abort);
  }
}
