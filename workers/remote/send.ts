import type { RemoteTask } from '../../packages/core/src/domain/remote.ts';
import { wantsNoReply } from '../../packages/core/src/domain/threads.ts';
import { readRemoteMessage, readRemoteTask, toSendRequest } from '../../src/presenters/a2a/remote.ts';
import type { MessageRow } from '../../src/repositories/messages/messages.ts';
import type { MessagePlace } from '../../src/repositories/remote/threads.ts';
import { toCallbackUrl } from '../../src/services/remote/callbacks.ts';
import {
  applyRemoteMessage,
  noteAccepted,
  noteUndeliverable,
  retryOf,
} from '../../src/services/remote/deliveries.ts';
import { nextAttemptAt, type Step } from '../posting/handler.ts';
import type { CallFailure } from './client.ts';
import type { Turn } from './turn.ts';
import { toFileParts } from './files.ts';
import { firstPollAt, storeFiles } from './receive.ts';
import { mailboxExtension } from '../../packages/core/src/domain/a2a.ts';

/** Codes of refusals that may concern the callback. */
const mayBeCallback = /^(?:INVALID|VALIDATION|PUSH_|REQUEST_MALFORMED)/;

type Failed = Pick<CallFailure, 'error' | 'retryAfterMs'>;

/** Returns what sends the messages of a thread. */
export function createSender(turn: Turn) {
  const { core, pacing, agent, thread, client, actor, store } = turn;
  const { remoteThreads } = core.db;

  const toSent = ({ id, sequence }: MessageRow) => ({
    message_id: id,
    thread_id: thread.thread_id,
    sequence,
  });

  /** The message needs no attempt any more. */
  async function settle({ sequence }: MessageRow): Promise<Step> {
    Object.assign(thread, { position: sequence, attempts: 0, begun_id: null });
    return (await store()) ? 'more' : 'ended';
  }

  async function giveUp(
    message: MessageRow,
    { task_id }: MessagePlace,
    outcome: 'undeliverable' | 'unknown',
    error: Failed['error'],
  ): Promise<Step> {
    const sent = { ...toSent(message), sender_id: message.sender_id, task_id };
    await core.unitOfWork.write(actor, (work) => noteUndeliverable(work, sent, outcome, error));
    return settle(message);
  }

  async function retryLater(
    message: MessageRow,
    place: MessagePlace,
    { error, retryAfterMs }: Failed,
    isUnclear: boolean,
  ): Promise<Step> {
    const until = nextAttemptAt(pacing, thread.attempts, retryAfterMs);
    await core.db.remoteAgents.noteDelivery(agent.agent_id, error.message, Date.now());
    if (until === undefined) return giveUp(message, place, isUnclear ? 'unknown' : 'undeliverable', error);
    if (!isUnclear) thread.begun_id = null;
    return { until };
  }

  async function acceptTask(
    message: MessageRow,
    place: MessagePlace,
    task: RemoteTask,
    poll_at = firstPollAt(task, place, hasCallback()),
  ): Promise<Step> {
    const link = {
      remote_task_id: task.id,
      message_id: message.id,
      task_id: place.task_id,
      state: task.state,
      generation: 0,
      polls: 0,
      cancel_sent: false,
      poll_at,
    };
    const delivery = task.mailbox?.delivery ?? 'delivered';
    await core.unitOfWork.write(actor, (work) => noteAccepted(work, toSent(message), link, delivery));
    thread.context_id ??= task.context_id;
    return settle(message);
  }

  async function accept(message: MessageRow, place: MessagePlace, json: unknown): Promise<Step> {
    const { task, message: direct } = json as { task?: unknown; message?: unknown };
    if (task !== undefined) return acceptTask(message, place, readRemoteTask(task));
    const { context_id, item } = readRemoteMessage(direct);
    const [stored] = await storeFiles(turn, [item]);
    if (!stored) throw new Error('each item is stored');
    await core.unitOfWork.write(actor, async (work) => {
      await noteAccepted(work, toSent(message), null, 'handled');
      await applyRemoteMessage(work, { ...toSent(message), task_id: place.task_id }, stored);
    });
    if (context_id !== '') thread.context_id ??= context_id;
    return settle(message);
  }

  /** Finds out what became of a message whose answer did not come, at a side where a repeated message would be another one. */
  async function lookFor(message: MessageRow, place: MessagePlace): Promise<Step> {
    const { json, failure } = await client.listTasks(thread.context_id);
    if (failure?.kind === 'retry' || failure?.kind === 'unclear') {
      thread.attempts += 1;
      return retryLater(message, place, failure, true);
    }
    const tasks = (json ?? []) as { history?: { messageId?: string }[] }[];
    const isOf = ({ messageId }: { messageId?: string }) => messageId === message.id;
    const found = tasks.find(({ history = [] }) => history.some(isOf));
    // The list does not show the artifacts.
    if (found) return acceptTask(message, place, readRemoteTask(found), Date.now());
    const problem = 'No answer came, and the remote side does not tell.';
    return giveUp(message, place, 'unknown', { code: 'OUTCOME_UNKNOWN', message: problem });
  }

  const hasCallback = (): boolean => agent.card?.capabilities.pushNotifications === true;

  /** Whether the remote side stores a message of one id once, however often it is sent. */
  const isIdempotent = (): boolean =>
    (agent.card?.capabilities.extensions ?? []).some(({ uri }) => uri === mailboxExtension);

  async function attempt(message: MessageRow, place: MessagePlace, callback: boolean): Promise<Step> {
    const files = await toFileParts(core, message.attachments);
    const { id, content, content_type, metadata } = message;
    const outgoing = {
      id,
      thread_id: thread.thread_id,
      content,
      content_type,
      metadata,
      expects_reply: !wantsNoReply(metadata),
    };
    const request = toSendRequest(outgoing, files, {
      context_id: thread.context_id,
      remote_task_id: place.remote_task_id,
      callback_url: callback
        ? toCallbackUrl(core.settings, { thread_id: thread.thread_id, message_id: id })
        : null,
    });
    const { json, failure } = await client.send(request);
    if (failure === null) return accept(message, place, json);
    if (failure.kind === 'task_over' && place.remote_task_id !== null)
      return attempt(message, { ...place, remote_task_id: null }, callback);
    // The remote side may not accept the address of this service.
    if (failure.kind === 'refused' && callback && mayBeCallback.test(failure.error.code))
      return attempt(message, place, false);
    if (failure.kind === 'refused' || failure.kind === 'task_over')
      return giveUp(message, place, 'undeliverable', failure.error);
    return retryLater(message, place, failure, failure.kind === 'unclear');
  }

  /** Sends a message, or finds out what became of an earlier attempt. */
  async function send(message: MessageRow): Promise<Step> {
    const place = await remoteThreads.findPlace(thread.thread_id, message.id);
    try {
      if (thread.begun_id === message.id && !isIdempotent()) return await lookFor(message, place);
      Object.assign(thread, { attempts: thread.attempts + 1, begun_id: message.id });
      if (!(await store())) return 'ended';
      return await attempt(message, place, hasCallback());
    } catch (error) {
      // What the remote side answered cannot be read or kept.
      core.logger.warn({ err: error, message: message.id }, 'the answer of a remote agent cannot be applied');
      const until = retryOf(error, Date.now());
      const about = { code: 'INVALID_ANSWER', message: 'The answer of the remote side cannot be read.' };
      return until === undefined
        ? giveUp(message, place, 'unknown', about)
        : retryLater(message, place, { error: about, retryAfterMs: until - Date.now() }, true);
    }
  }

  return { send };
}
