import { relationshipOf } from '../../../../core/src/domain/agents/agents.ts';
import { isOpenTask } from '../../../../core/src/domain/tasks.ts';
import { type AwaitedReply, createReplyProgress } from '../../../../core/src/events/reply-progress.ts';
import { waitForReplyInput } from '../../../../core/src/inputs/messages.ts';
import type { TaskRecord } from '../../../../core/src/records/task.ts';
import { presentToolMessage } from '../../../../core/src/records/tool-message.ts';
import { encodeCursor, lastNumber, readEvents, waitForEvents } from '../core/feed.ts';
import type { Message } from '../core/records.ts';
import { type Call, defineHandler } from '../core/state.ts';
import { relate } from './agents.ts';
import { presentTask, requireTask } from './tasks.ts';
import { requireThread } from './thread-records.ts';

interface Wait extends AwaitedReply {
  /** Whether only messages of the task are replies. */
  is_only_in_task: boolean;
  wait_seconds: number;
  /** The number of the last event before the call. */
  start: number;
}

interface Waited {
  reply: object | null;
  task: TaskRecord | null;
  cursor: string;
}

/** Waits for the reply to a question, or for the end of its task. Returns both, with the feed position. */
export async function awaitReply(call: Call, wait: Wait): Promise<Waited> {
  const { me, state, signal } = call;
  const task = wait.task_id === undefined ? undefined : requireTask(call, wait.task_id);
  const isOver = () => task !== undefined && !isOpenTask(task.state);
  const find = (): Message | undefined => {
    const inThread = state.threads.get(wait.thread_id)?.messages;
    const messages = wait.is_only_in_task ? task?.messages.map(({ message }) => message) : inThread;
    return messages?.find(({ sequence, sender_id }) => sequence > wait.after_sequence && sender_id !== me.id);
  };
  const deadline = Date.now() + wait.wait_seconds * 1_000;
  let reply = find();
  while (!reply && !isOver() && Date.now() < deadline && !signal.aborted) {
    await waitForEvents(me, lastNumber(me), deadline - Date.now(), signal);
    reply = find();
  }
  const sender = reply && state.agents.get(reply.sender_id);
  const relationship = sender ? relationshipOf(relate(me, sender)) : 'none';
  return {
    reply: reply ? presentToolMessage(reply, relationship) : null,
    task: task ? presentTask(call, task) : null,
    cursor: encodeCursor(me, positionAfter(call, wait)),
  };
}

/** The position up to which the caller knows every event. */
function positionAfter({ me }: Call, wait: Wait): number {
  const progress = createReplyProgress(me.id, wait, wait.start);
  const { events, numbers } = readEvents(me, new Set(['realtime:read']), wait.start, Infinity);
  for (const [index, event] of events.entries())
    progress.wants({ ...event, data: event.data ?? {}, cursor: numbers[index] ?? 0 });
  return progress.cursor();
}

export const replyHandlers = {
  wait_for_reply: defineHandler(waitForReplyInput, (call, { thread_id = '', after_sequence, task_id }) => {
    const task = task_id === undefined ? undefined : requireTask(call, task_id);
    if (!task) requireThread(call, thread_id);
    const position = {
      thread_id: task?.thread_id ?? thread_id,
      after_sequence: after_sequence ?? task?.sequence ?? 0,
    };
    return { ...position, reply: null, task: null, cursor: 'latest' };
  }),
};
