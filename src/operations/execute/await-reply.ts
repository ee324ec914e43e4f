import type { Actor } from '../../../packages/core/src/domain/auth/actor.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import type { MessageRef } from '../../../packages/core/src/domain/feed/receipts.ts';
import {
  presentToolMessage,
  type ToolMessage,
  toolMessageSchema,
} from '../../../packages/core/src/records/tool-message.ts';
import { findReply } from '../../services/messages/reply.ts';
import type { UnitOfWork } from '../../work/unit-of-work.ts';
import type { ReplyRequest } from '../define.ts';
import type { Answer, Call, Stage } from './context.ts';

/** An event as a waiting call sees it. */
interface FeedEvent {
  type: string;
  cursor: string;
  thread_id: string | null;
  message: MessageRef | null;
}

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
      wants(event: FeedEvent): boolean;
    },
  ): Promise<{ events: readonly FeedEvent[]; cursor: string; complete: boolean; gap: boolean }>;
}

export type ReplyMessage = ToolMessage;

/** What a wait led to. */
interface Waited {
  reply: ToolMessage | null;
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
    unitOfWork.read(actor, async (work) => {
      const row = await findReply(work, request);
      return row && presentToolMessage(row, row.relationship);
    });

  /** Reads the feed from `start` until the reply arrives or the time is over. */
  async function wait({ actor, signal }: Call, request: ReplyRequest, start: string): Promise<Waited> {
    const deadline = Date.now() + request.wait_ms;
    const progress = createProgress(actor, request, start);
    for (let cursor = start; ;) {
      const page = await feed.page(actor, {
        cursor,
        limit: pageLimit,
        wait_ms: Math.max(0, deadline - Date.now()),
        ...(signal && { signal }),
        wants: progress.wants,
      });
      const reply = progress.hasReply() || page.gap ? await find(actor, request) : null;
      const isOver = page.complete && (Date.now() >= deadline || signal?.aborted);
      if (reply || isOver) return { reply, cursor: progress.cursor() };
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
        const early = answer.replayed ? await find(call.actor, request) : replyOf(answer.output);
        return withReply(answer, early ? { reply: early, cursor: start } : await wait(call, request, start));
      } catch (error) {
        if (operation.kind === 'read' || !(error instanceof DomainError)) throw error;
        return withReply(answer, { reply: null, cursor: start });
      }
    };
  };
}

/** Follows the feed for one wait: finds the event of the reply, and the position up to which the caller knows every event. */
function createProgress({ agent_id }: Actor, { thread_id, after_sequence }: ReplyRequest, start: string) {
  let cursor = start;
  let hasSkipped = false;
  let hasReply = false;
  return {
    cursor: () => cursor,
    hasReply: () => hasReply,
    /** Sees the events in feed order. The agent's own messages end no wait. */
    wants({ type, message, cursor: after, ...event }: FeedEvent): boolean {
      const isMessage = type === 'message.created';
      const isOwn = isMessage && message?.sender_id === agent_id;
      const isReply =
        isMessage && !isOwn && message?.thread_id === thread_id && message.sequence > after_sequence;
      // The answer names the thread, which a question to an agent opens.
      const isOpening = type === 'thread.created' && event.thread_id === thread_id;
      hasSkipped ||= hasReply || !(isOwn || isReply || isOpening);
      hasReply ||= isReply;
      if (!hasSkipped) cursor = after;
      return !isOwn && !isOpening;
    },
  };
}

/** The reply in an output of an operation that waits for one; null without one. */
export function replyOf(output: object): ToolMessage | null {
  return 'reply' in output ? toolMessageSchema.nullable().parse(output.reply) : null;
}

function withReply(answer: Answer, waited: Waited): Answer {
  const output = { ...answer.output, ...waited };
  return { ...answer, output, body: JSON.stringify(output) };
}
