import { mailboxExtension } from '../../packages/core/src/domain/a2a.ts';
import { DomainError } from '../../packages/core/src/domain/errors.ts';
import { wantsNoReply } from '../../packages/core/src/domain/threads.ts';
import { readRemoteTask, toSendRequest } from '../../src/presenters/a2a/remote.ts';
import type { MessageRow } from '../../src/repositories/messages/messages.ts';
import type { MessagePlace, NextInThread } from '../../src/repositories/remote/next-in-thread.ts';
import { toCallbackUrl } from '../../src/services/remote/callbacks.ts';
import { retryOf } from '../../src/services/remote/deliveries.ts';
import type { Step } from '../posting/handler.ts';
import { toFileParts } from './files.ts';
import { createSettlement } from './settle.ts';
import { isEnded, suspend, type Turn } from './turn.ts';

const unreadable = { code: 'INVALID_ANSWER', message: 'The answer of the remote side cannot be read.' };
const untold = {
  code: 'OUTCOME_UNKNOWN',
  message: 'No answer was stored, and the remote side does not tell.',
};

/** Why an answer is not stored. */
function toProblem(error: unknown): typeof unreadable {
  if (!(error instanceof DomainError)) return unreadable;
  const { code, message } = error;
  return { code, message: `The remote side answered, and the answer was refused: ${message}` };
}

/** Codes of refusals that may concern the callback. */
const mayBeCallback = /^(?:INVALID|VALIDATION|PUSH_|REQUEST_MALFORMED)/;

/** Whether the remote side stores a message of one id once, however often it is sent. */
export const storesOnce = ({ agent }: Turn): boolean =>
  (agent.card?.capabilities.extensions ?? []).some(({ uri }) => uri === mailboxExtension);

/** Returns what sends the messages of a thread. */
export function createSender(turn: Turn) {
  const { core, thread, client, store } = turn;
  const isIdempotent = storesOnce(turn);
  /** In this turn, whether the remote side takes the address of this service. */
  let takesCallback = turn.hasCallback;
  const { accept, acceptTask, giveUp, retryLater } = createSettlement(turn);

  /** Finds out what became of a message whose answer was not stored, at a side where a repeated message would be another one. */
  async function lookFor(message: MessageRow, place: MessagePlace, problem = untold): Promise<Step> {
    const { result, failure } = await client.listTasks(thread.context_id);
    if (failure?.kind === 'retry' || failure?.kind === 'unclear') {
      thread.attempts += 1;
      return retryLater(message, place, failure, true);
    }
    const found = result?.find(({ message_ids }) => message_ids.includes(message.id));
    // The list does not show the artifacts.
    if (found) return acceptTask(message, place, readRemoteTask(found.task), () => Date.now());
    return giveUp(message, place, 'unknown', problem);
  }

  async function attempt(message: MessageRow, next: NextInThread): Promise<Step> {
    const { task_id, remote_task_id, after } = next;
    const place = { task_id, remote_task_id };
    const { id, content, content_type, metadata, attachments } = message;
    const { conversation } = thread;
    const expects_reply = !wantsNoReply(metadata);
    // A task that ends at once has no updates.
    const hasCallback = takesCallback && expects_reply;
    const outgoing = { id, conversation, content, content_type, metadata, expects_reply, after };
    const request = toSendRequest(outgoing, await toFileParts(core, attachments), {
      context_id: thread.context_id,
      remote_task_id,
      callback_url: hasCallback
        ? toCallbackUrl(core.settings, { thread_id: thread.thread_id, message_id: id })
        : null,
    });
    const { result, failure } = await client.send(request);
    if (failure === null) return accept(message, place, result, hasCallback);
    if (isEnded(turn, failure)) return suspend(turn, failure);
    if (failure.kind === 'task_over' && remote_task_id !== null)
      return attempt(message, { ...next, remote_task_id: null });
    // The remote side may not accept the address of this service.
    if (failure.kind === 'refused' && hasCallback && mayBeCallback.test(failure.error.code)) {
      takesCallback = false;
      return attempt(message, next);
    }
    if (failure.kind === 'refused' || failure.kind === 'task_over')
      return giveUp(message, place, 'undeliverable', failure.error);
    return retryLater(message, place, failure, failure.kind === 'unclear');
  }

  /** Sends the next message, or finds out what became of an earlier attempt. */
  async function send(message: MessageRow, next: NextInThread): Promise<Step> {
    const place = { task_id: next.task_id, remote_task_id: next.remote_task_id };
    try {
      if (thread.begun_id === message.id && !isIdempotent) return await lookFor(message, place);
      Object.assign(thread, { attempts: thread.attempts + 1, begun_id: message.id });
      // After a kill, it only matters that this message had begun where a repeated one is another one.
      if (!isIdempotent && !(await store())) return 'ended';
      return await attempt(message, next);
    } catch (error) {
      // What the remote side answered cannot be read or kept.
      core.logger.warn({ err: error, message: message.id }, 'the answer of a remote agent cannot be applied');
      const until = retryOf(error, Date.now());
      const problem = toProblem(error);
      if (until === undefined) return giveUp(message, place, 'unknown', problem);
      // A message in place of a task does not come again.
      if (problem !== unreadable && !isIdempotent) return lookFor(message, place, problem);
      return retryLater(message, place, { error: problem, retryAfterMs: until - Date.now() }, true);
    }
  }

  return { send };
}
