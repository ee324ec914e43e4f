import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { readA2aUpdatesOperation } from '../../operations/a2a/read-updates.ts';
import type { InboxWatch } from '../../realtime/contract.ts';
import { createSseStream, sendStream, sseEvent } from '../http/sse.ts';
import type { CallContext } from './context.ts';
import { steadyNow } from '../../shared/clock.ts';

const heartbeatMs = 15_000;

/** After this time without an update, a stream reads its task again. */
const idleMs = 60_000;

/** The start of a stream. */
export interface StreamStart {
  task: object;
  task_id: string;
  /** The stream sends the updates after this generation. */
  generation: number;
  /** Whether the stream ends after the task. */
  isOver: boolean;
}

/**
 * Streams a task: the task, then its updates, each with its generation as id, until it has ended or needs input (A2A 1.0, sections 3.1.2
 * and 11.7). The rows of updates decide what is sent; the feed of the client only says when to read them. So any process serves any task.
 * @returns null: the response has begun
 */
export async function streamTask(context: CallContext, start: StreamStart): Promise<null> {
  const { ctx, actor, toFrame } = context.request;
  const watch = await context.realtime.watchInbox(actor);
  const stream = createSseStream(heartbeatMs, context.onSlowReader);
  const controller = new AbortController();
  const abort = () => controller.abort();
  stream.body.once('close', abort);
  context.draining.addEventListener('abort', abort);
  if (context.draining.aborted) abort();

  const toText = (generation: number, event: object, isLast: boolean) =>
    sseEvent(String(generation), toFrame(event, isLast));
  sendStream(ctx, stream, toText(start.generation, { task: start.task }, start.isOver));
  void sendUpdates(context, start, {
    watch,
    signal: controller.signal,
    send: (generation, event, isLast) => stream.write(toText(generation, event, isLast)),
  })
    .catch((error: unknown) => {
      // The token ended, the task was removed, or the process stops. The client subscribes again.
      if (!(error instanceof DomainError)) ctx.app.emit('error', error, ctx);
    })
    .finally(() => {
      watch.close();
      stream.body.off('close', abort);
      context.draining.removeEventListener('abort', abort);
      stream.end();
    });
  return null;
}

interface Output {
  watch: InboxWatch;
  signal: AbortSignal;
  send(generation: number, event: object, isLast: boolean): Promise<void>;
}

async function sendUpdates(
  { run, request }: CallContext,
  { task_id, generation, isOver }: StreamStart,
  { watch, signal, send }: Output,
): Promise<void> {
  const about = { agent: request.agent, has_mailbox: request.hasMailbox, task_id };
  let after = generation;
  let isLast = isOver;
  while (!isLast && !signal.aborted) {
    const input = { ...about, after_generation: after };
    const page = await run(readA2aUpdatesOperation, input, { already_consumed: true });
    for (const [index, update] of page.updates.entries()) {
      await send(update.generation, update.event, page.is_over && index === page.updates.length - 1);
      after = update.generation;
    }
    isLast = page.is_over;
    if (page.updates.length === 0)
      await watch.wait({ after: page.feed_number, until: steadyNow() + idleMs, signal });
  }
}
