import { createDeadline } from './calls/deadline.ts';
import type { CallOptions } from './calls/types.ts';
import { ConnectionError } from './errors.ts';
import { isEnded } from './tasks.ts';
import type { Nouns } from './generated/nouns.ts';
import type { Task } from './generated/tasks.ts';
import type { AskAgentInput, WaitForReplyOutput } from './generated/threads.ts';

export interface AskOptions extends Pick<CallOptions, 'signal' | 'idempotencyKey'> {
  /** How long to wait for the answer; default: 60,000. */
  timeoutMs?: number;
  /** The answer is wanted in so many seconds, at least 60. Then the task of the question is overdue; it stays open. */
  dueInSeconds?: number;
  /** Called with the task of the question when it is sent. Store its id to wait again after a restart. In a group there is none. */
  onTask?: (task: Task) => void;
}

/** A message of another member of the thread. */
export type Reply = NonNullable<WaitForReplyOutput['reply']>;

/** Where to ask: a thread by its id, or an agent by its handle, in a new thread. */
export type AskTarget = string | { with_handle: string; subject?: string };

/** The longest wait of one request. */
const maxWaitSeconds = 25;

/**
 * Sends a message and waits for the first message of another member that answers it. Null: none came in time, or its task ended without one.
 * With an idempotency key of your own, a repeated call waits for the answer to the first one.
 */
export async function ask(
  threads: Nouns['threads'],
  target: AskTarget,
  content: string,
  { signal, idempotencyKey, timeoutMs = 60_000, dueInSeconds, onTask }: AskOptions = {},
): Promise<Reply | null> {
  const endsAt = Date.now() + timeoutMs;
  const secondsLeft = () => Math.min(maxWaitSeconds, Math.max(0, Math.ceil((endsAt - Date.now()) / 1_000)));
  const deadline = createDeadline(timeoutMs, signal);
  const options = { signal: deadline.signal, timeoutMs: timeoutMs + 1_000 };
  try {
    const answer = await threads.askAgent(
      {
        ...toPlace(target),
        content,
        due_in_seconds: dueInSeconds,
        // The body is the same for every attempt with a key.
        wait_seconds: 0,
      } satisfies AskAgentInput,
      { ...options, idempotencyKey },
    );
    const { thread_id } = answer.message;
    let { reply, task } = answer;
    if (task) onTask?.(task);
    const position = { thread_id, after_sequence: answer.after_sequence, task_id: task?.id };
    while (reply === null && secondsLeft() > 0 && !(task && isEnded(task))) {
      ({ reply, task } = await threads.waitForReply({ ...position, wait_seconds: secondsLeft() }, options));
    }
    return reply;
  } catch (error) {
    if (error instanceof ConnectionError && error.code === 'TIMEOUT') return null;
    throw error;
  } finally {
    deadline.clear();
  }
}

function toPlace(target: AskTarget): Pick<AskAgentInput, 'thread_id' | 'with_handle' | 'subject'> {
  if (typeof target !== 'string') return target;
  return target.startsWith('thd_') ? { thread_id: target } : { with_handle: target };
}
