import type { RemoteTask } from '../../packages/core/src/domain/remote.ts';
import { readRemoteMessage, readRemoteTask } from '../../src/presenters/a2a/remote.ts';
import type { MessageRow } from '../../src/repositories/messages/messages.ts';
import type { MessagePlace, RemoteMessageRow } from '../../src/repositories/remote/threads.ts';
import { applyRemoteMessage, noteAccepted, noteUndeliverable } from '../../src/services/remote/deliveries.ts';
import type { Work } from '../../src/work/unit-of-work.ts';
import { nextAttemptAt, type Step } from '../posting/handler.ts';
import type { CallFailure, SendAnswer } from './client.ts';
import { firstPollAt, storeFiles } from './receive.ts';
import { storeOutcome } from './store-outcome.ts';
import type { Sending, Turn } from './turn.ts';

/** How long a message waits that came before an earlier one. */
const earlyMs = 1_000;

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
  held_after: null,
});

/** Returns what stores the outcome of messages. */
function createRecorder({ core, agent, thread, actor, store }: Turn) {
  const count = (outcome: RemoteMessageRow['outcome'] | 'retried') =>
    core.metrics.remoteDeliveries.inc({ outcome });

  /** The record of the agent tells its last delivery to the second. */
  async function noteDelivery(problem: string | null): Promise<void> {
    const now = Date.now();
    const isKnown = agent.last_error === null && (agent.last_delivered_at ?? 0) > now - 1_000;
    if (problem === null && isKnown) return;
    await storeOutcome(core, agent.agent_id, problem);
    Object.assign(agent, { last_error: problem, ...(problem === null && { last_delivered_at: now }) });
  }

  /**
   * The message needs no attempt any more: stores what became of it, with the state of the thread.
   * @param problem why it does not arrive, or why this is not known.
   */
  async function settle(
    { sequence }: MessageRow,
    { outcome, problem = null }: { outcome: RemoteMessageRow['outcome']; problem?: string | null },
    note: (work: Work) => Promise<void>,
    context_id = thread.context_id,
  ): Promise<Step> {
    const before = { ...thread };
    let isMine = false;
    try {
      await core.unitOfWork.write(actor, async (work) => {
        await note(work);
        Object.assign(thread, { position: sequence, attempts: 0, begun_id: null });
        thread.context_id ??= context_id;
        isMine = await store(undefined, work.db);
      });
    } catch (error) {
      Object.assign(thread, before);
      throw error;
    }
    await noteDelivery(problem);
    count(outcome);
    return isMine ? 'more' : 'ended';
  }

  return { settle, noteDelivery, count };
}

/** What becomes of messages after an attempt. Each returns how the turn continues. */
export function createSettlement(turn: Turn) {
  const { agent, pacing, thread } = turn;
  const { settle, noteDelivery, count } = createRecorder(turn);

  async function giveUp(
    message: MessageRow,
    { task_id }: MessagePlace,
    outcome: 'undeliverable' | 'unknown',
    error: Failed['error'],
  ): Promise<Step> {
    const sent = { ...toSent(message), sender_id: message.sender_id, task_id };
    const about = { outcome, problem: error.message };
    return settle(message, about, (work) => noteUndeliverable(work, sent, outcome, error));
  }

  async function retryLater(
    message: MessageRow,
    place: MessagePlace,
    { error, retryAfterMs }: Failed,
    isUnclear: boolean,
  ): Promise<Step> {
    await noteDelivery(error.message);
    // The other installation first reads an earlier message, as an update: this attempt does not count.
    if (agent.bound_id !== null && error.code === 'UNAVAILABLE') {
      thread.attempts -= 1;
      return { until: Date.now() + Math.max(retryAfterMs ?? 0, earlyMs) };
    }
    const until = nextAttemptAt(pacing, thread.attempts, retryAfterMs);
    if (until === undefined) return giveUp(message, place, isUnclear ? 'unknown' : 'undeliverable', error);
    count('retried');
    if (!isUnclear) thread.begun_id = null;
    return { until };
  }

  async function acceptTask(
    message: MessageRow,
    place: MessagePlace,
    task: RemoteTask,
    toPollAt: (task: RemoteTask) => number | null,
  ): Promise<Step> {
    const link = { ...toLink(message, place, task), poll_at: toPollAt(task) };
    const delivery = task.mailbox?.delivery ?? 'delivered';
    const note = (work: Work) => noteAccepted(work, toSent(message), link, delivery);
    return settle(message, { outcome: 'accepted' }, note, task.context_id);
  }

  async function accept(
    message: MessageRow,
    place: MessagePlace,
    { task, message: direct }: SendAnswer,
    sending: Sending,
  ): Promise<Step> {
    if (task !== undefined)
      return acceptTask(message, place, readRemoteTask(task), (read) => firstPollAt(read, place, sending));
    const { context_id, item } = readRemoteMessage(direct);
    const [stored] = await storeFiles(turn, [item]);
    if (!stored) throw new Error('each item is stored');
    const answered = { ...toSent(message), task_id: place.task_id };
    const note = async (work: Work) => {
      await noteAccepted(work, toSent(message), null, 'handled');
      await applyRemoteMessage(work, answered, stored);
    };
    return settle(message, { outcome: 'accepted' }, note, context_id === '' ? null : context_id);
  }

  return { accept, acceptTask, giveUp, retryLater };
}
