import { isOpenTask } from '../../packages/core/src/domain/tasks.ts';
import type { RemoteTask } from '../../packages/core/src/domain/remote.ts';
import { readRemoteMessage, readRemoteTask } from '../../src/presenters/a2a/remote.ts';
import type { MessageRow } from '../../src/repositories/messages/messages.ts';
import type { AcceptedMessage, RemoteMessageRow } from '../../src/repositories/remote/messages.ts';
import type { MessagePlace } from '../../src/repositories/remote/next-in-thread.ts';
import type { RemoteThreadState } from '../../src/repositories/remote/threads.ts';
import { applyRemoteMessage, noteAccepted, noteUndeliverable } from '../../src/services/remote/deliveries.ts';
import { EarlierIsMissing } from '../../src/services/remote/order.ts';
import { lockThread } from '../../src/services/messages/send.ts';
import type { Work } from '../../src/work/unit-of-work.ts';
import { nextAttemptAt, type Step } from '../posting/handler.ts';
import type { CallFailure, SendAnswer } from './client.ts';
import { applyWithFiles, firstPollAt } from './receive.ts';
import { storeOutcome } from './store-outcome.ts';
import type { Turn } from './turn.ts';

/** How long a message waits that came before an earlier one. */
const earlyMs = 1_000;

type Failed = Pick<CallFailure, 'error' | 'retryAfterMs'>;

const toSent = ({ id: message_id, thread_id, sequence }: MessageRow) => ({ message_id, thread_id, sequence });

const toAbout = ({ thread_id }: MessageRow, { agent: { agent_id: id, canonical_handle } }: Turn) => ({
  thread_id,
  agent: { id, canonical_handle },
});

/** The rows of a message that was accepted in a task. */
const toAccepted = (
  message: MessageRow,
  { task_id }: MessagePlace,
  { id: remote_task_id, state, mailbox }: RemoteTask,
  poll_at: number | null,
): AcceptedMessage => ({
  ...toSent(message),
  delivery: mailbox?.delivery ?? 'delivered',
  task: { remote_task_id, message_id: message.id, task_id, state, poll_at },
  // The marks of this message are those of earlier ones too.
  replaces_polls: !isOpenTask(state) && poll_at !== null && poll_at > Date.now(),
});

/** Until when to wait for the other installation, which first reads an earlier message as an update; undefined: that is not why a call failed. */
export const earlyUntil = ({ agent }: Turn, { error, retryAfterMs = 0 }: Failed): number | undefined =>
  agent.bound_id !== null && error.code === EarlierIsMissing.reason
    ? Date.now() + Math.max(retryAfterMs, earlyMs)
    : undefined;

/** Returns what stores the outcome of messages. */
function createRecorder({ core, pacing, agent, thread, actor }: Turn) {
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
   * @param store returns whether this process still has the thread.
   */
  async function settle(
    { sequence }: MessageRow,
    { outcome, problem = null }: { outcome: RemoteMessageRow['outcome']; problem?: string | null },
    store: (state: RemoteThreadState) => Promise<boolean>,
    context_id: string | null = null,
  ): Promise<Step> {
    const after = { position: sequence, attempts: 0, begun_id: null, next_at: Date.now() + pacing.leaseMs };
    const state = { ...after, thread_id: thread.thread_id, context_id: thread.context_id ?? context_id };
    const isMine = await store({ ...state, lease: thread.next_at, is_over: false });
    Object.assign(thread, state);
    await noteDelivery(problem);
    count(outcome);
    return isMine ? 'more' : 'ended';
  }

  /** Stores a state in a transaction with something else. */
  const storeWith = (note: (work: Work) => Promise<void>) => (state: RemoteThreadState) =>
    core.unitOfWork.write(actor, async (work) => {
      await note(work);
      return (await work.db.remoteThreads.store([state], work.now)).length > 0;
    });

  return { settle, storeWith, noteDelivery, count };
}

/** What becomes of messages after an attempt. Each returns how the turn continues. */
export function createSettlement(turn: Turn) {
  const { batches, pacing, thread } = turn;
  const { settle, storeWith, noteDelivery, count } = createRecorder(turn);

  async function giveUp(
    message: MessageRow,
    { task_id }: MessagePlace,
    outcome: 'undeliverable' | 'unknown',
    error: Failed['error'],
  ): Promise<Step> {
    const sent = { ...toSent(message), sender_id: message.sender_id, task_id };
    const about = { outcome, problem: error.message };
    return settle(
      message,
      about,
      storeWith((work) => noteUndeliverable(work, sent, outcome, error)),
    );
  }

  async function retryLater(
    message: MessageRow,
    place: MessagePlace,
    { error, retryAfterMs }: Failed,
    isUnclear: boolean,
  ): Promise<Step> {
    const early = earlyUntil(turn, { error, retryAfterMs });
    const until = early ?? nextAttemptAt(pacing, thread.attempts, retryAfterMs);
    if (until === undefined) return giveUp(message, place, isUnclear ? 'unknown' : 'undeliverable', error);
    if (early === undefined) count('retried');
    else thread.attempts -= 1;
    if (!isUnclear) thread.begun_id = null;
    // A person who sees the failure may have the message sent again at once: its state must be stored by then.
    await turn.store(until);
    await noteDelivery(error.message);
    return { until };
  }

  async function acceptTask(
    message: MessageRow,
    place: MessagePlace,
    task: RemoteTask,
    toPollAt: (task: RemoteTask) => number | null,
  ): Promise<Step> {
    const about = { ...toAbout(message, turn), message: toAccepted(message, place, task, toPollAt(task)) };
    return settle(
      message,
      { outcome: 'accepted' },
      (stored) => batches.accept({ ...about, state: stored }),
      task.context_id,
    );
  }

  async function accept(
    message: MessageRow,
    place: MessagePlace,
    { task, message: direct }: SendAnswer,
    hasCallback: boolean,
  ): Promise<Step> {
    if (task !== undefined)
      return acceptTask(message, place, readRemoteTask(task), (read) =>
        firstPollAt(read, place, hasCallback),
      );
    const { context_id, item } = readRemoteMessage(direct, message.id);
    const answered = { ...toSent(message), task_id: place.task_id };
    const accepted = { ...toSent(message), delivery: 'handled' as const, task: null, replaces_polls: false };
    return applyWithFiles(turn, [item], (stored) => {
      const note = async (work: Work) => {
        await lockThread(work, message.thread_id);
        await noteAccepted(work, [{ ...toAbout(message, turn), message: accepted }]);
        await applyRemoteMessage(work, answered, stored);
      };
      return settle(message, { outcome: 'accepted' }, storeWith(note), context_id);
    });
  }

  return { accept, acceptTask, giveUp, retryLater };
}
