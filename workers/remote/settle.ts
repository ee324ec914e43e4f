import type { RemoteTask } from '../../packages/core/src/domain/remote.ts';
import { readRemoteMessage, readRemoteTask } from '../../src/presenters/a2a/remote.ts';
import type { MessageRow } from '../../src/repositories/messages/messages.ts';
import type { MessagePlace, RemoteMessageRow } from '../../src/repositories/remote/threads.ts';
import { applyRemoteMessage, noteAccepted, noteUndeliverable } from '../../src/services/remote/deliveries.ts';
import { nextAttemptAt, type Step } from '../posting/handler.ts';
import type { CallFailure, SendAnswer } from './client.ts';
import { firstPollAt, storeFiles } from './receive.ts';
import type { Turn } from './turn.ts';

type Failed = Pick<CallFailure, 'error' | 'retryAfterMs'>;

const toSent = ({ id: message_id, thread_id, sequence }: MessageRow) => ({ message_id, thread_id, sequence });

/** A task that is new here. */
const toLink = ({ id: message_id }: MessageRow, { task_id }: MessagePlace, { id, state }: RemoteTask) => ({
  remote_task_id: id,
  message_id,
  task_id,
  state,
  generation: 0,
  polls: 0,
  cancel_sent: false,
});

/** What becomes of messages after an attempt. Each returns how the turn continues. */
export function createSettlement(turn: Turn) {
  const { core, pacing, agent, thread, actor, hasCallback, store } = turn;

  /** The message needs no attempt any more. @param problem why it does not arrive; null: it was accepted. */
  async function settle(
    { sequence }: MessageRow,
    outcome: RemoteMessageRow['outcome'],
    problem: string | null,
  ): Promise<Step> {
    core.metrics.remoteDeliveries.inc({ outcome });
    await core.db.remoteAgents.noteDelivery(agent.agent_id, problem, Date.now());
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
    return settle(message, outcome, error.message);
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
    core.metrics.remoteDeliveries.inc({ outcome: 'retried' });
    if (!isUnclear) thread.begun_id = null;
    return { until };
  }

  async function acceptTask(
    message: MessageRow,
    place: MessagePlace,
    task: RemoteTask,
    poll_at = firstPollAt(task, place, hasCallback),
  ): Promise<Step> {
    const link = { ...toLink(message, place, task), poll_at };
    const delivery = task.mailbox?.delivery ?? 'delivered';
    await core.unitOfWork.write(actor, (work) => noteAccepted(work, toSent(message), link, delivery));
    thread.context_id ??= task.context_id;
    return settle(message, 'accepted', null);
  }

  async function accept(
    message: MessageRow,
    place: MessagePlace,
    { task, message: direct }: SendAnswer,
  ): Promise<Step> {
    if (task !== undefined) return acceptTask(message, place, readRemoteTask(task));
    const { context_id, item } = readRemoteMessage(direct);
    const [stored] = await storeFiles(turn, [item]);
    if (!stored) throw new Error('each item is stored');
    await core.unitOfWork.write(actor, async (work) => {
      await noteAccepted(work, toSent(message), null, 'handled');
      await applyRemoteMessage(work, { ...toSent(message), task_id: place.task_id }, stored);
    });
    if (context_id !== '') thread.context_id ??= context_id;
    return settle(message, 'accepted', null);
  }

  return { accept, acceptTask, giveUp, retryLater };
}
