import { DomainError } from '../../packages/core/src/domain/errors.ts';
import { isOpenTask } from '../../packages/core/src/domain/tasks.ts';
import type { RemoteItem, RemoteTask } from '../../packages/core/src/domain/remote.ts';
import { readRemoteTask } from '../../src/presenters/a2a/remote.ts';
import type { MessagePlace } from '../../src/repositories/remote/next-in-thread.ts';
import type { RemoteTaskRow } from '../../src/repositories/remote/threads.ts';
import { addAttachment } from '../../src/services/attachments/attachments.ts';
import {
  applyRemoteTask,
  noteRefusedFile,
  retryOf,
  type StoredItem,
} from '../../src/services/remote/deliveries.ts';
import type { Step } from '../posting/handler.ts';
import { isEnded, suspend, type Turn } from './turn.ts';
import { toIncoming } from './files.ts';
import { storeOutcome } from './store-outcome.ts';
import { listFresh } from './order.ts';

/** Items that one transaction applies. */
const maxItems = 50;

/** Reads of the last task of a thread after its end, while its receipts can still change: for about two weeks. */
const maxPollsOfEnded = 40;

const secondMs = 1_000;
const maxPollMs = 600 * secondMs;
const maxPollOfEndedMs = 12 * 3_600 * secondMs;

/** When a new task is read first: at once if it brought something for a message or a task here. */
export function firstPollAt(
  task: RemoteTask,
  { task_id }: MessagePlace,
  hasCallback: boolean,
): number | null {
  const hasNews = task.items.length > 0 || (task_id !== null && task.state !== 'submitted');
  return hasNews ? Date.now() : nextPollAt(task, 0, hasCallback);
}

/** When a task is read again; null: no more. */
function nextPollAt({ state, mailbox }: RemoteTask, polls: number, hasCallback: boolean): number | null {
  const first = hasCallback ? 60 * secondMs : 2 * secondMs;
  const longestMs = isOpenTask(state) ? maxPollMs : maxPollOfEndedMs;
  const at = Date.now() + Math.min(longestMs, first * 2 ** Math.min(polls, 20));
  if (isOpenTask(state)) return at;
  return mailbox && mailbox.delivery !== 'handled' && polls < maxPollsOfEnded ? at : null;
}

/** Applies items after it has stored their files, which are not sent yet. If that fails, the files expire: the next attempt stores them again. */
export async function applyWithFiles<Result>(
  { core, intake, actor }: Turn,
  items: readonly RemoteItem[],
  apply: (stored: readonly StoredItem[]) => Promise<Result>,
): Promise<Result> {
  const stored = items.map((item) => ({ ...item, attachment_ids: [] as string[] }));
  try {
    for (const item of stored) {
      for (const file of item.files) {
        try {
          const received = await intake(toIncoming(file), actor.agent_id);
          const { id } = await core.unitOfWork.write(actor, (work) => addAttachment(work, received.file));
          item.attachment_ids.push(id);
        } catch (error) {
          if (!(error instanceof DomainError) || error.status >= 500 || error.status === 429) throw error;
          item.content = noteRefusedFile(item.content, file.filename, error.message);
        }
      }
    }
    return await apply(stored);
  } catch (error) {
    const ids = stored.flatMap(({ attachment_ids }) => attachment_ids);
    await core.db.attachments.expireUnsent(ids, Date.now());
    throw error;
  }
}

/** Failed reads are further apart up to this one. */
const maxCountedFailures = 10;

/** An outage, however long, leaves an ended task the reads of more than a week. */
const countFailed = ({ state, polls }: RemoteTaskRow): number =>
  isOpenTask(state) ? polls + 1 : Math.max(polls, Math.min(polls + 1, maxCountedFailures));

/** Reads before the end are not counted after it. */
const countApplied = (before: RemoteTaskRow, { state }: RemoteTask): number =>
  isOpenTask(before.state) && !isOpenTask(state) ? 0 : before.polls + 1;

/** A task that the remote side has forgotten. */
const toForgotten = ({ remote_task_id: id }: RemoteTaskRow): RemoteTask => ({
  id,
  context_id: null,
  state: 'failed',
  items: [],
  mailbox: null,
});

/** Returns what reads the tasks of a remote agent. */
export function createReceiver(turn: Turn) {
  const { core, pacing, agent, thread, client, actor, hasCallback, store } = turn;
  const { remoteThreads } = core.db;
  const later = ({ polls }: RemoteTaskRow): number =>
    Date.now() + Math.min(maxPollMs, secondMs * 2 ** Math.min(polls + 2, 20));

  /** Reads a task later. Null: no more. */
  async function putOff(link: RemoteTaskRow, until: number | null): Promise<Step> {
    await remoteThreads.putTask({ ...link, polls: countFailed(link), poll_at: until });
    return (await store()) ? 'more' : 'ended';
  }

  /** Applies what is new of a task, in several transactions if it is much. */
  async function apply(found: RemoteTaskRow, task: RemoteTask): Promise<Step> {
    // An answer that was overtaken by a newer one.
    if (task.mailbox && task.mailbox.generation < found.generation) return putOff(found, later(found));
    const end = Date.now() + pacing.turnMs;
    const link = { ...found };
    for (;;) {
      const { fresh, heldAfter: held_after } = await listFresh(turn, task.items, link.polls);
      const isHeld = held_after !== null;
      Object.assign(link, { held_after });
      if (isHeld && fresh.length === 0) return putOff(link, later(link));
      const wanted = Math.min(fresh.length, maxItems);
      const balance = await core.limiter.consume('send_message', agent.agent_id, wanted);
      const allowed = Math.min(wanted, balance?.allowed ?? wanted);
      if (wanted > 0 && allowed === 0) return putOff(link, Date.now() + (balance?.resetMs ?? 0) + secondMs);
      const isWhole = !isHeld && fresh.length <= allowed;
      const rest_at = isHeld ? later(link) : Date.now();
      const poll_at = isWhole ? nextPollAt(task, countApplied(link, task), hasCallback) : rest_at;
      await applyWithFiles(turn, fresh.slice(0, allowed), (items) =>
        core.unitOfWork.write(actor, (work) =>
          applyRemoteTask(work, link, task, { items, isWhole, poll_at }),
        ),
      );
      if (!(await store())) return 'ended';
      // The rest follows when the task is read again; meanwhile other threads have their turns.
      if (isWhole || isHeld || Date.now() >= end) return 'more';
      Object.assign(link, { polls: 0, poll_at });
    }
  }

  /** Reads a task of the remote side, and applies what is new. */
  async function readTask(link: RemoteTaskRow): Promise<Step> {
    const { result, failure } = await client.getTask(link.remote_task_id);
    if (failure?.kind === 'task_over') return apply(link, toForgotten(link));
    if (failure && isEnded(turn, failure)) return suspend(turn, failure);
    if (failure) {
      await storeOutcome(core, agent.agent_id, failure.error.message);
      return putOff(link, Math.max(later(link), Date.now() + (failure.retryAfterMs ?? 0)));
    }
    let task: RemoteTask | undefined;
    try {
      task = readRemoteTask(result);
      return await apply(link, task);
    } catch (error) {
      core.logger.warn(
        { err: error, task: link.remote_task_id },
        'a task of a remote agent cannot be applied',
      );
      const until = retryOf(error, Date.now());
      // The thread is closed, or its agent has blocked the remote one. What follows its messages does not wait for them.
      const refused = (task?.items ?? []).map(({ key }) => ({ key, message_id: null }));
      if (until === undefined) await remoteThreads.addApplied(thread.thread_id, refused, Date.now());
      return putOff(link, until === undefined ? null : Math.max(later(link), until));
    }
  }

  /** Tells the remote side that a task was canceled here, and reads the task. It may have ended meanwhile. No message waits for a cancel that fails. */
  async function cancelTask(link: RemoteTaskRow): Promise<Step> {
    const { failure } = await client.cancelTask(link.remote_task_id);
    const cancel_failed = failure?.kind === 'retry' || failure?.kind === 'unclear';
    const polls = cancel_failed && link.cancel_failed ? link.polls : 0;
    return (await store())
      ? readTask({ ...link, polls, cancel_sent: !cancel_failed, cancel_failed })
      : 'ended';
  }

  return { cancelTask, readTask };
}
