import type { Actor } from '../../../packages/core/src/domain/auth/actor.ts';
import type { UnitOfWork } from '../../work/unit-of-work.ts';
import type { ItemWait } from '../define.ts';
import type { Answer, CallContext, Run, Stage } from './context.ts';
import { steadyNow } from '../../shared/clock.ts';

/** Watches the inbox of a caller, as `Realtime` does. */
export interface InboxWatches {
  watchInbox(actor: Actor): Promise<{
    wait(options: { after: number; until: number; signal: AbortSignal | undefined }): Promise<void>;
    close(): void;
  }>;
}

/**
 * Runs operations that wait for items again while their output is empty: when the feed grows, when another instance gives an item back, and
 * when a delay or a lease ends. Each run is a transaction of its own, so that a waiting call holds no connection.
 * @throws {DomainError} what the operation throws; UNAUTHORIZED when the token ends during the wait
 */
export function createAwaitItems(unitOfWork: UnitOfWork, { watchInbox }: InboxWatches): Stage {
  async function wait(
    context: CallContext,
    itemWait: ItemWait,
    deadline: number,
    next: Run,
  ): Promise<Answer> {
    const { actor, signal } = context.call;
    const watch = await watchInbox(actor);
    try {
      for (;;) {
        const answer = await next(context);
        const isOver = steadyNow() >= deadline || signal?.aborted === true;
        if (isOver || !itemWait.isEmpty(answer.output, context.input)) return answer;
        const { last_number: after, next_in_ms } = await unitOfWork.read(actor, (work) =>
          itemWait.findNext(work, context.input, answer.output),
        );
        const until = next_in_ms === null ? deadline : Math.min(deadline, steadyNow() + next_in_ms);
        await watch.wait({ after, until, signal });
      }
    } finally {
      watch.close();
    }
  }

  return function awaitItems({ itemWait }, next) {
    if (!itemWait) return next;
    return async (context) => {
      const waitMs = itemWait.waitMs(context.input);
      const deadline = steadyNow() + waitMs;
      if (waitMs > 0 && itemWait.isFirstEmpty) return wait(context, itemWait, deadline, next);
      const answer = await next(context);
      if (steadyNow() >= deadline || !itemWait.isEmpty(answer.output, context.input)) return answer;
      return wait(context, itemWait, deadline, next);
    };
  };
}
