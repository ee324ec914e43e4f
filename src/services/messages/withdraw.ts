import { isId, minIdAt, timeOfId } from '../../../packages/core/src/domain/ids.ts';
import { remoteTopic } from '../../../packages/core/src/domain/remote.ts';
import {
  withdrawalJob,
  withdrawInAnswer,
  withdrawnContent,
  withdrawnTopic,
} from '../../../packages/core/src/domain/withdrawals.ts';
import { messageNotFound, requireSender } from '../../../packages/core/src/policies/withdrawals.ts';
import type { LockedThread } from '../../repositories/messages/batches.ts';
import type { MessageRow } from '../../repositories/messages/messages.ts';
import type { Work } from '../../work/unit-of-work.ts';
import { requireActiveThread } from '../actor-checks.ts';
import { removeMessageFromInboxes } from '../inbox/end-leases.ts';
import { byActor, moveTask } from '../tasks/change.ts';

/**
 * Longer than a transaction takes, with all its waits for locks (ms). Its idempotency keys have the time of its begin, and its records can
 * have a later one.
 */
const maxCallMs = 30_000;

/** The longest time from an upload to the end of its scan (ms). */
const scanMs = 2 * 60 * 60 * 1000;

/**
 * Withdraws a message of the actor: removes its content and its files, and cancels the open task that it opened. Its place stays. A second
 * withdrawal changes nothing. Another installation is told. The thread is locked before the task, and the task before the inboxes, as in every change of a thread.
 * @returns the message as it is now
 * @throws {DomainError} MESSAGE_NOT_FOUND, also for a message of a foreign thread; FORBIDDEN (of another agent), THREAD_CLOSED
 */
export async function withdrawMessage(work: Work, id: string): Promise<MessageRow> {
  const found = await requireOwnMessage(work, id);
  if (isWithdrawn(found)) return found;
  const { thread_id } = found;
  const writer = { thread_id, agent_id: work.actor.agent_id };
  const [thread] = await work.db.messageBatches.lockThreads([writer], { wait: true });
  if (!thread) throw messageNotFound();
  // Another call may have withdrawn it before the lock.
  const message = await requireOwnMessage(work, id);
  if (isWithdrawn(message)) return message;
  requireActiveThread(thread);
  // Before the members: a worker that has accepted messages locks the remote thread before them.
  if (await work.db.remoteWithdrawals.insert(message, work.now))
    work.changes.publish({ topic: remoteTopic, body: thread_id });
  await cancelTaskOf(work, thread, message);
  const members = await work.db.threadMembers.lock(thread_id);
  await removeMessageFromInboxes(work, message, members);
  await clearMessage(work, message);
  const { sequence } = message;
  work.changes.emit({
    type: 'message.withdrawn',
    thread_id,
    recipients: members,
    data: { thread_id, message_id: id, sequence, by: byActor(work), withdrawn_at: work.now },
  });
  return { ...message, ...withdrawnContent, withdrawn_at: work.now };
}

const isWithdrawn = ({ withdrawn_at = null }: MessageRow): boolean => withdrawn_at !== null;

async function requireOwnMessage({ db, actor }: Work, id: string): Promise<MessageRow> {
  const found = isId('message', id) ? await db.messages.findForMember(id, actor.agent_id) : undefined;
  if (!found) throw messageNotFound();
  requireSender(found, actor.agent_id);
  return found;
}

async function cancelTaskOf(work: Work, thread: LockedThread, { id }: MessageRow): Promise<void> {
  if (!thread.has_questions) return;
  const open = await work.db.tasks.lockOpenInThread(thread.id);
  const task = open.find(({ message_id }) => message_id === id);
  if (task) moveTask(work, task, 'cancel', { by: byActor(work) });
}

/** Removes the content wherever it is stored. The job removes the bytes of files, and what an index run has written meanwhile. */
async function clearMessage(work: Work, message: MessageRow): Promise<void> {
  await work.db.messageWithdrawals.clear(message.id, work.now);
  await withdrawAnswers(work, message);
  if (message.attachments.length > 0) await forgetFiles(work, message);
  work.changes.publish({ topic: withdrawnTopic, body: message.id });
  work.changes.enqueue({ job: withdrawalJob, subject_id: message.id });
}

/** A repeated send gets the withdrawn form. */
async function withdrawAnswers({ db, now }: Work, { id, created_at }: MessageRow): Promise<void> {
  const answers = await db.messageWithdrawals.listAnswers(id, created_at - maxCallMs, created_at);
  for (const { key_hash, answer } of answers) {
    await db.messageWithdrawals.replaceAnswer({ key_hash, answer: withdrawInAnswer(answer, id, now) });
  }
}

/** The names of the files, in their events and in the answers of their uploads. A repeated upload is a new one. */
async function forgetFiles({ db }: Work, { sender_id, attachments }: MessageRow): Promise<void> {
  const ids = attachments.map(({ id }) => id);
  const times = ids.map(timeOfId);
  await db.messageWithdrawals.clearFileNames(sender_id, {
    ids,
    min_id: minIdAt('event', Math.min(...times) - maxCallMs),
    max_id: minIdAt('event', Math.max(...times) + scanMs),
  });
  for (const id of ids)
    await db.messageWithdrawals.removeAnswers(id, timeOfId(id) - maxCallMs, timeOfId(id) + maxCallMs);
}
