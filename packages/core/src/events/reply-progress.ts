import type { MessageRef } from '../domain/feed/receipts.ts';
import { isOpenTask, type TaskState } from '../domain/tasks.ts';
import type { EventType } from './list.ts';
import { isNews } from './news.ts';

/** An event as a waiting call sees it. */
export interface WaitedEvent<Position> {
  type: EventType;
  /** The position of the caller after it. */
  cursor: Position;
  thread_id: string | null;
  message: MessageRef | null;
  data: object;
}

/** What a call waits for. */
export interface AwaitedReply {
  thread_id: string;
  after_sequence: number;
  task_id?: string | undefined;
}

/** Follows the feed for one wait: finds the event of the reply, and the position up to which the caller knows every event. */
export function createReplyProgress<Position>(
  agent_id: string,
  { thread_id, after_sequence, task_id }: AwaitedReply,
  start: Position,
) {
  let cursor = start;
  let hasSkipped = false;
  let hasReply = false;
  return {
    cursor: () => cursor,
    hasReply: () => hasReply,
    /** Sees the events in feed order. The agent's own messages end no wait. */
    wants({ type, message, data, cursor: after, ...event }: WaitedEvent<Position>): boolean {
      const isMessage = type === 'message.created';
      const isKnown = !isNews({ type, message, data }, agent_id);
      const isReply =
        isMessage && !isKnown && message?.thread_id === thread_id && message.sequence > after_sequence;
      // The answer names the thread, which a question to an agent opens.
      const isOpening = type === 'thread.created' && event.thread_id === thread_id;
      // The answer has the task as it is now.
      const task = type === 'task.updated' ? (data as TaskOfEvent).task : undefined;
      const isOwnTask = task !== undefined && task.id === task_id;
      hasSkipped ||= (hasReply && task === undefined) || !(isKnown || isReply || isOpening || isOwnTask);
      hasReply ||= isReply || (isOwnTask && !isOpenTask(task.state));
      if (!hasSkipped) cursor = after;
      return !isKnown && !isOpening && !(isOwnTask && isOpenTask(task.state));
    },
  };
}

interface TaskOfEvent {
  task: { id: string; state: TaskState };
}
