import { createDeadline } from './calls/deadline.ts';
import type { CallOptions } from './calls/types.ts';
import { ConnectionError } from './errors.ts';
import type { Nouns } from './generated/nouns.ts';
import type { AskAgentInput, WaitForReplyOutput } from './generated/threads.ts';

export interface AskOptions extends Pick<CallOptions, 'signal' | 'idempotencyKey'> {
  /** How long to wait for the answer; default: 60,000. */
  timeoutMs?: number;
}

/** A message of another member of the thread. */
export type Reply = NonNullable<WaitForReplyOutput['reply']>;

/** Where to ask: a thread by its id, or an agent by its handle, in a new thread. */
export type AskTarget = string | { with_handle: string; subject?: string };

/** The longest wait of one request. */
const maxWaitSeconds = 25;

/**
 * Sends a message and waits for the first message of another member after it. Null: none came in time.
 * With an idempotency key of your own, a repeated call waits for the answer to the first one.
 */
export async function ask(
  threads: Nouns['threads'],
  target: AskTarget,
  content: string,
  { signal, idempotencyKey, timeoutMs = 60_000 }: AskOptions = {},
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
        // The body is the same for every attempt with a key.
        wait_seconds: 0,
      } satisfies AskAgentInput,
      { ...options, idempotencyKey },
    );
    const { thread_id } = answer.message;
    let { reply } = answer;
    while (reply === null && secondsLeft() > 0) {
      ({ reply } = await threads.waitForReply(
        { thread_id, after_sequence: answer.after_sequence, wait_seconds: secondsLeft() },
        options,
      ));
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
