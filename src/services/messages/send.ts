import { ConcurrentChange, DomainError } from '../../../packages/core/src/domain/errors.ts';
import { newId } from '../../../packages/core/src/domain/ids.ts';
import { asksPerson, expectsReply, maxAskedMembers } from '../../../packages/core/src/domain/threads.ts';
import { toNoticeJob } from '../../../packages/core/src/domain/notifications.ts';
import { requireReplaceable } from '../../../packages/core/src/policies/withdrawals.ts';
import type { ReplacedRow } from '../../repositories/messages/withdrawals.ts';
import { type LoadedBatch, toKey } from '../../work/send-context.ts';
import type { BatchResult, Work } from '../../work/unit-of-work.ts';
import { threadNotFound } from '../access.ts';
import { requireActiveThread, requireActorState, requirePoliciesAllow } from '../actor-checks.ts';
import { type LockedFiles, lockFiles, requireSendableFiles } from '../attachments/files-to-send.ts';
import { createTaskChanges, type TaskChanges } from '../tasks/change.ts';
import {
  applyMessage,
  hasNoQuestion,
  lockQuestions,
  type TaskEffect,
  type ThreadQuestions,
} from '../tasks/thread-questions.ts';
import { checkOutgoingOf, clearRecipients, type OutgoingChecks, writerOf } from './outgoing.ts';
import { loadReplaced, markReplaced } from './replace.ts';
import {
  addMessage,
  countExchange,
  listExchanges,
  startProgress,
  type ThreadProgress,
} from './thread-progress.ts';

/** A message as its sender writes it. */
export interface MessageDraft {
  content: string;
  content_type: 'text' | 'markdown';
  attachment_ids: readonly string[];
  /** The id of a message in the same thread. */
  reply_to: string | null;
  /** The id of a message of the sender in the same thread. */
  replaces?: string | null;
  metadata: Record<string, unknown>;
}

export interface NewMessage extends MessageDraft {
  thread_id: string;
  /** What it does to the tasks of the thread. Default: a reply of the asked agent completes its task. */
  task?: TaskEffect;
}

/** A message and the unit of work of its sender. All units of work of a batch share one transaction. */
export interface Send {
  work: Work;
  message: NewMessage;
}

/** What the messages of a batch depend on. */
interface Batch extends Pick<LoadedBatch, 'audiences' | 'replyTargets'> {
  /** By id. */
  threads: ReadonlyMap<string, ThreadProgress>;
  files: LockedFiles;
  /** Of the threads that have any, by thread. */
  questions: ReadonlyMap<string, ThreadQuestions>;
  /** Of the tasks of all threads. */
  changes: TaskChanges;
  /** The messages that others of the batch replace, by id. */
  replaced: ReadonlyMap<string, ReplacedRow>;
  /** Of the senders with an outgoing policy. */
  outgoing: OutgoingChecks;
}

type SentMessage = Parameters<Work['db']['messageBatches']['append']>[0]['messages'][number];

/**
 * Sends one message, as a batch of one.
 * @returns the row, with its sequence in the thread
 * @throws {DomainError} THREAD_NOT_FOUND, THREAD_CLOSED, AGENT_PAUSED, AGENT_NOT_FOUND (the only other member is retired),
 * ATTACHMENT_NOT_FOUND, ATTACHMENT_ALREADY_SENT, ATTACHMENT_NOT_READY (it could not be scanned), ATTACHMENT_INFECTED, MESSAGE_NOT_FOUND
 * (reply_to), RATE_LIMITED (two agents in a loop), and the refusals of the inbound policies and blocks of members
 */
export async function sendMessage(work: Work, message: NewMessage): Promise<SentMessage> {
  const [result] = await sendMessages([{ work, message }], { wait: true });
  if (!result) throw new Error('a send that waits for locks has a result');
  if (result instanceof DomainError) throw result;
  return result;
}

/**
 * Sends messages of several agents in one transaction, in their order. Everything is checked before anything is written, so a refused
 * message leaves no data. In a thread of two the inbound policy of the other member applies, unless it opened the thread; in
 * every thread a member that has blocked the sender refuses the message. Refusals of the loop guard are counted.
 * @param options.wait whether to wait for threads and files that another transaction has locked.
 * @param options.mustRead whether everything is read in this transaction (`SendContext`).
 * @returns for each message its row or its refusal, as `sendMessage`; null when it would have to wait, or the asked agent is not alone with
 * the sender (`TaskEffect`)
 * @throws {ConcurrentChange} when it relied on something that was stale
 */
export async function sendMessages(
  sends: readonly Send[],
  { wait, mustRead = true }: { wait: boolean; mustRead?: boolean },
): Promise<readonly BatchResult<SentMessage>[]> {
  const [first] = sends;
  if (!first) return [];
  const fileRefs = sends.flatMap(({ work: { actor }, message }) =>
    message.attachment_ids.map((id) => ({ id, uploader_id: actor.agent_id })),
  );
  const [loaded, files] = await Promise.all([
    first.work.settings.sendContext.load(sends, { wait, mustRead }),
    lockFiles(first.work, fileRefs, { wait }),
  ]);
  const threads = new Map(loaded.threads.map((state) => [state.thread.id, startProgress(state)]));
  const questions = await loadQuestions(first.work, threads, sends, { wait });
  const replaced = await loadReplaced(
    first.work,
    sends.map(({ message }) => message),
  );
  const outgoing = await checkOutgoingOf(sends, loaded);
  const changes = createTaskChanges();
  const batch = { ...loaded, threads, files, questions, changes, replaced, outgoing };
  const results = sends.map((send): BatchResult<SentMessage> => {
    try {
      return placeMessage(send, batch, { wait });
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      // A cached thread may be stale, so a message is refused only after reading.
      if (!batch.isRead) throw new ConcurrentChange({ cause: error });
      return error;
    }
  });
  const changed = [...threads.values()].filter(({ marks }) => marks.size > 0);
  deferInserts(
    first.work,
    results.flatMap((result) => (result === null || result instanceof Error ? [] : [result])),
    changed,
  );
  changes.write(first.work);
  if (replaced.size > 0) await markAllReplaced(sends, results, batch);
  clearRecipients(sends, results, outgoing);
  first.work.changes.afterCommit(() =>
    loaded.store(
      changed.map((progress) => {
        const { thread, marks } = progress;
        return { thread, exchanges: listExchanges(progress), sender_ids: [...marks.keys()] };
      }),
    ),
  );
  const stopped = results.flatMap((result) =>
    result instanceof DomainError && result.stopped_loop ? [result.stopped_loop] : [],
  );
  if (stopped.length > 0)
    first.work.changes.defer(first.work.db.usage.addStoppedLoops(stopped, first.work.now));
  return results;
}

/** After the inserts: the statements name both messages. */
async function markAllReplaced(
  sends: readonly Send[],
  results: readonly BatchResult<SentMessage>[],
  { replaced, audiences }: Batch,
): Promise<void> {
  for (const [at, { work, message }] of sends.entries()) {
    const sent = results[at] ?? null;
    const old = replaced.get(message.replaces ?? '');
    if (!old || sent === null || sent instanceof DomainError) continue;
    const { member_ids = [] } = audiences.get(toKey(sent.thread_id, sent.sender_id)) ?? {};
    await markReplaced(work, old, sent, member_ids);
  }
}

/** Reads the open questions of threads, as `lockQuestions`. A thread in which none is open has none from now on. */
async function loadQuestions(
  work: Work,
  threads: ReadonlyMap<string, ThreadProgress>,
  sends: readonly Send[],
  options: { wait: boolean },
): Promise<Map<string, ThreadQuestions>> {
  const withQuestions = [...threads.values()].flatMap(({ thread }) => (thread.has_questions ? [thread] : []));
  const replied = sends.flatMap(({ message: { reply_to, replaces } }) =>
    [reply_to, replaces].filter((id) => typeof id === 'string'),
  );
  const questions = await lockQuestions(
    work,
    withQuestions.map(({ id }) => id),
    replied,
    options,
  );
  const cleared = withQuestions.filter(({ id }) => {
    const found = questions.get(id);
    return found && hasNoQuestion(found);
  });
  for (const thread of cleared) thread.has_questions = false;
  if (cleared.length > 0) work.changes.defer(work.db.tasks.clearQuestions(cleared.map(({ id }) => id)));
  return questions;
}

/** Locks a thread that the agent is a member of until the transaction ends, for what must be read between the lock and a send. */
export async function lockThread({ db: { messageBatches }, actor }: Work, thread_id: string): Promise<void> {
  await messageBatches.lockThreads([{ thread_id, agent_id: actor.agent_id }], { wait: true });
}

/**
 * Checks one message and gives it the next sequence of its thread. It changes nothing when it is refused.
 * @throws {DomainError} as `sendMessage`
 */
function placeMessage(send: Send, batch: Batch, { wait }: { wait: boolean }): SentMessage | null {
  const { work, message: draft } = send;
  const {
    settings: { limits },
    actor,
  } = work;
  const { thread_id, content, content_type, metadata, reply_to, attachment_ids, task: effect = {} } = draft;
  const { replaces = null } = draft;
  const audience = batch.audiences.get(toKey(thread_id, actor.agent_id));
  const isThreadOfTwo = audience?.member_ids.length === 2;
  const only = effect.asked_id;
  if (only !== undefined && !(isThreadOfTwo && audience.member_ids.includes(only))) return null;
  if (!audience?.joined) throw threadNotFound();
  const progress = batch.threads.get(thread_id);
  if (!progress && !wait) return null;
  if (!progress) throw threadNotFound();
  // Its questions were not read, or not locked. A message that replaces another one locks more, by a send of its own.
  const questions = batch.questions.get(thread_id);
  if (!wait && ((progress.thread.has_questions && !questions) || replaces !== null)) return null;
  requireActorState(audience);
  requireActiveThread(progress.thread);
  requirePoliciesAllow(progress.thread, audience.listeners);
  if (!wait && attachment_ids.some((id) => !batch.files.has(id))) return null;
  const attachments = requireSendableFiles(work, batch.files, attachment_ids);
  if (reply_to !== null && !batch.replyTargets.has(toKey(thread_id, reply_to))) {
    throw new DomainError('MESSAGE_NOT_FOUND', 'reply_to is not a message in this thread.');
  }
  const old =
    replaces === null
      ? null
      : requireReplaceable(batch.replaced.get(replaces), { thread_id, sender_id: actor.agent_id });
  // Last, so that no person reviews a message that would be refused anyway.
  const review = batch.outgoing.get(send)?.refusal;
  if (review) throw review;
  // Time never runs backwards along the sequence, even for a send that waited for the thread.
  const created_at = Math.max(progress.thread.last_message_at ?? 0, work.now);
  const sender_id = actor.agent_id;
  if (limits) countExchange(progress, sender_id, created_at, limits.loop);
  const sequence = addMessage(progress, sender_id, created_at);
  const id = newId('message');
  const about = { id, thread_id, sequence, sender_id, sender_handle: actor.handle, created_at };
  const files = attachments.map((file) => ({ ...file, expires_at: null }));
  const fields = {
    content,
    content_type,
    reply_to,
    metadata,
    attachments: files,
    written_by: writerOf(actor),
  };
  const sent: SentMessage = { ...about, ...fields, ...(old && { replaces }) };
  if (old) old.replaced_by = id;
  for (const file of attachments) file.message_id = id;
  work.changes.emit(
    { type: 'message.created', thread_id, message_id: id, recipients: audience.member_ids },
    sent,
  );
  if (questions) applyMessage(work, questions, sent, { changes: batch.changes, effect, isThreadOfTwo });
  const isExpecting = !effect.opens && expectsReply(metadata);
  if (isExpecting) {
    const asked_ids = deferExpected(work, sent, audience.member_ids);
    questions?.expected.push(...asked_ids.map((asked_id) => ({ message_id: id, sender_id, asked_id })));
  }
  if (isExpecting || effect.opens === true) progress.thread.has_questions = true;
  if (asksPerson(metadata)) work.changes.enqueue(toNoticeJob(thread_id, id));
  return sent;
}

/** Notes that a message expects a reply of the other members. The statement travels with the commit. @returns their ids */
function deferExpected(work: Work, sent: SentMessage, memberIds: readonly string[]): string[] {
  const { id, thread_id, sequence, sender_id, created_at } = sent;
  const asked_ids = memberIds.filter((member) => member !== sender_id).slice(0, maxAskedMembers);
  const about = { id, thread_id, sequence, sender_id, created_at, asked_ids };
  work.changes.defer(work.db.expectedReplies.insert({ ...about, asks_person: asksPerson(sent.metadata) }));
  return asked_ids;
}

/** The statements travel with the commit. */
function deferInserts(
  work: Work,
  messages: readonly SentMessage[],
  threads: readonly ThreadProgress[],
): void {
  if (messages.length === 0) return;
  work.changes.defer(
    work.db.messageBatches.append({
      messages,
      threads: threads.map(({ thread }) => thread),
      marks: threads.flatMap(({ marks }) => [...marks.values()]),
      exchanges: threads.flatMap(({ countedExchanges }) => [...countedExchanges.values()]),
    }),
  );
  const files = messages.flatMap(({ id: message_id, attachments }) =>
    attachments.map(({ id }, at) => ({ id, message_id, position: at + 1 })),
  );
  if (files.length > 0) work.changes.defer(work.db.attachments.markSent(files));
}
