import type { Actor } from '../../../packages/core/src/domain/auth/actor.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { type ToolMessage, toolMessageSchema } from '../../../packages/core/src/records/tool-message.ts';
import { createReplyProgress, type WaitedEvent } from '../../../packages/core/src/events/reply-progress.ts';
import { findReply } from '../../services/messages/reply.ts';
import { presentReply } from '../messages/present-reply.ts';
import { z } from 'zod';
import { isOpenTask } from '../../../packages/core/src/domain/tasks.ts';
import { type TaskRecord, taskSchema } from '../../../packages/core/src/records/task.ts';
import type { UnitOfWork } from '../../work/unit-of-work.ts';
import type { ReplyRequest } from '../define.ts';
import type { Answer, Call, Stage } from './context.ts';
import { steadyNow } from '../../shared/clock.ts';

/** The feed of the caller, with the waits of `Realtime`. */
export interface CallerFeed {
  feedStatus(actor: Actor): Promise<{ cursor: string }>;
  page(
    actor: Actor,
    options: {
      cursor: string;
      limit: number;
      wait_ms: number;
      signal?: AbortSignal;
      wants(event: WaitedEvent<string>): boolean;
    },
  ): Promise<{ events: readonly WaitedEvent<string>[]; cursor: string; complete: boolean; gap: boolean }>;
}

/** What identifies a reply. */
const replyMessage = toolMessageSchema.pick({ id: true, thread_id: true, sequence: true, sender: true });

export type ReplyMessage = z.infer<typeof replyMessage>;

/** What a wait led to. */
interface Waited {
  reply: ToolMessage | null;
  /** The task of the question as it is now; null if it has none. */
  task: TaskRecord | null;
  /** The feed position up to which the caller has seen every event of others. */
  cursor: string;
}

const pageLimit = 50;

/**
 * Adds the reply to the answers of operations that wait for one. The wait begins after the operation has run, outside of its transaction.
 * The feed position is taken before it runs, so no reply is missed.
 * @throws {DomainError} what the wait throws, for a read. A write has taken effect: its answer then has no reply.
 */
export function createAwaitReply(unitOfWork: UnitOfWork, feed: CallerFeed): Stage {
  const find = (actor: Actor, request: ReplyRequest) =>
    unitOfWork.read(actor, async (work) => presentReply(await findReply(work, request)));

  /** Reads the feed from `start` until the reply arrives or the time is over. */
  async function wait(
    { actor, signal, followsTask }: Call,
    request: ReplyRequest,
    start: string,
  ): Promise<Waited> {
    const deadline = steadyNow() + (followsTask && request.task_id !== undefined ? 0 : request.wait_ms);
    const progress = createReplyProgress(actor.agent_id, request, start);
    for (let cursor = start; ;) {
      const page = await feed.page(actor, {
        cursor,
        limit: pageLimit,
        wait_ms: Math.max(0, deadline - steadyNow()),
        ...(signal && { signal }),
        wants: progress.wants,
      });
      const isOver = page.complete && (steadyNow() >= deadline || signal?.aborted === true);
      const isDue = progress.hasReply() || page.gap || (isOver && request.task_id !== undefined);
      const found = isDue ? await find(actor, request) : { reply: null, task: null };
      if (hasAnswer(found) || isOver) return { ...found, cursor: progress.cursor() };
      ({ cursor } = page);
    }
  }

  return function awaitReply(operation, next) {
    if (!operation.reply) return next;
    return async (context) => {
      const { call, input } = context;
      const { cursor: start } = await feed.feedStatus(call.actor);
      const answer = await next(context);
      const request = operation.reply?.(answer.output, input);
      if (!request) return answer;
      try {
        const early = answer.replayed ? await find(call.actor, request) : answeredBy.parse(answer.output);
        return withReply(
          answer,
          hasAnswer(early) ? { ...early, cursor: start } : await wait(call, request, start),
        );
      } catch (error) {
        if (operation.kind === 'read' || !(error instanceof DomainError)) throw error;
        return withReply(answer, { ...answeredBy.parse(answer.output), cursor: start });
      }
    };
  };
}

const answeredBy = z.object({ reply: toolMessageSchema.nullable(), task: taskSchema.nullable() });

/** Whether the question is answered, or its task has ended without an answer. */
function hasAnswer({ reply, task }: Pick<Waited, 'reply' | 'task'>): boolean {
  return reply !== null || (task !== null && !isOpenTask(task.state));
}

/** The reply in an output of an operation that waits for one; null without one. */
export function replyOf(output: object): ReplyMessage | null {
  return 'reply' in output ? replyMessage.nullable().parse(output.reply) : null;
}

function withReply(answer: Answer, waited: Waited): Answer {
  const output = { ...answer.output, ...waited };
  return { ...answer, output, body: JSON.stringify(output) };
}
