import { DomainError } from '../../domain/errors.ts';
import { newId } from '../../domain/ids.ts';
import { toNoticeJob } from '../../domain/notifications.ts';
import type { BatchResult, Work } from '../../work/unit-of-work.ts';
import { threadNotFound } from '../access.ts';
import { requireActiveThread, requireActorState, requirePoliciesAllow } from '../actor-checks.ts';
import { type LockedFiles, lockFiles, requireSendableFiles } from '../attachments/files-to-send.ts';
import { addMessage, countExchange, startProgress, type ThreadProgress } from './thread-progress.ts';

/** A message as its sender writes it. */
export interface MessageDraft {
  content: string;
  content_type: 'text' | 'markdown';
  attachment_ids: readonly string[];
  /** The id of a message in the same thread. */
  reply_to: string | null;
  metadata: Record<string, unknown>;
}

export interface NewMessage extends MessageDraft {
  thread_id: string;
}

/** A message and the unit of work of its sender. All units of work of a batch share one transaction. */
export interface Send {
  work: Work;
  message: NewMessage;
}

type Batches = Work['messageBatches'];
type Audience = Awaited<ReturnType<Batches['listAudiences']>>[number];
type SentMessage = Parameters<Batches['append']>[0]['messages'][number];

/** What the messages of a batch depend on. */
interface LoadedBatch {
  threads: ReadonlyMap<string, ThreadProgress>;
  audiences: ReadonlyMap<string, Audience>;
  files: LockedFiles;
  /** The existing ones among the messages that are replied to. */
  replyTargets: ReadonlySet<string>;
}

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
 * @returns for each message its row or its refusal, as `sendMessage`; null when it would have to wait
 */
export async function sendMessages(
  sends: readonly Send[],
  options: { wait: boolean },
): Promise<readonly BatchResult<SentMessage>[]> {
  const [first] = sends;
  if (!first) return [];
  const batch = await loadBatch(first.work, sends, options);
  const results = sends.map((send): BatchResult<SentMessage> => {
    try {
      return placeMessage(send, batch, options);
    } catch (error) {
      if (error instanceof DomainError) return error;
      throw error;
    }
  });
  deferInserts(
    first.work,
    results.flatMap((result) => (result === null || result instanceof Error ? [] : [result])),
    [...batch.threads.values()].filter(({ marks }) => marks.size > 0),
  );
  const stopped = results.flatMap((result) =>
    result instanceof DomainError && result.stopped_loop ? [result.stopped_loop] : [],
  );
  if (stopped.length > 0) first.work.defer(first.work.usage.addStoppedLoops(stopped, first.work.now));
  return results;
}

/** Locks a thread that the agent is a member of until the transaction ends, for what must be read between the lock and a send. */
export async function lockThread({ messageBatches, actor }: Work, thread_id: string): Promise<void> {
  await messageBatches.lockThreads([{ thread_id, agent_id: actor.agent_id }], { wait: true });
}

/** One round trip. Files and replies add a statement each, for all messages together. */
async function loadBatch(
  work: Work,
  sends: readonly Send[],
  { wait }: { wait: boolean },
): Promise<LoadedBatch> {
  const { messageBatches, loopLimit } = work;
  const writers = listWriters(sends);
  const replies = sends.flatMap(({ message: { thread_id, reply_to: id } }) =>
    id === null ? [] : [{ thread_id, id }],
  );
  const fileRefs = sends.flatMap(({ work: { actor }, message }) =>
    message.attachment_ids.map((id) => ({ id, uploader_id: actor.agent_id })),
  );
  const [threads, audiences, exchanges, files, targets] = await Promise.all([
    messageBatches.lockThreads(writers, { wait }),
    messageBatches.listAudiences(writers),
    loopLimit ? messageBatches.listExchanges(writers) : [],
    lockFiles(work, fileRefs, { wait }),
    replies.length > 0 ? messageBatches.listReplyTargets(replies) : [],
  ]);
  return {
    threads: new Map(threads.map((thread) => [thread.id, startProgress(thread, exchanges)])),
    audiences: new Map(audiences.map((audience) => [toKey(audience.thread_id, audience.agent_id), audience])),
    files,
    replyTargets: new Set(targets.map(({ thread_id, id }) => toKey(thread_id, id))),
  };
}

/** The sender and thread of each message, without duplicates. */
function listWriters(sends: readonly Send[]): { thread_id: string; agent_id: string }[] {
  const writers = sends.map(({ work: { actor }, message: { thread_id } }) => {
    return { thread_id, agent_id: actor.agent_id };
  });
  return [...new Map(writers.map((writer) => [toKey(writer.thread_id, writer.agent_id), writer])).values()];
}

/**
 * Checks one message and gives it the next sequence of its thread. It changes nothing when it is refused.
 * @throws {DomainError} as `sendMessage`
 */
function placeMessage(
  { work, message: draft }: Send,
  batch: LoadedBatch,
  { wait }: { wait: boolean },
): SentMessage | null {
  const { actor, loopLimit } = work;
  const { thread_id, content, content_type, metadata, reply_to, attachment_ids } = draft;
  const audience = batch.audiences.get(toKey(thread_id, actor.agent_id));
  if (!audience?.joined) throw threadNotFound();
  const progress = batch.threads.get(thread_id);
  if (!progress && !wait) return null;
  if (!progress) throw threadNotFound();
  requireActorState(audience);
  requireActiveThread(progress.thread);
  requirePoliciesAllow(progress.thread, audience.listeners);
  if (!wait && attachment_ids.some((id) => !batch.files.has(id))) return null;
  const attachments = requireSendableFiles(work, batch.files, attachment_ids);
  if (reply_to !== null && !batch.replyTargets.has(toKey(thread_id, reply_to))) {
    throw new DomainError('MESSAGE_NOT_FOUND', 'reply_to is not a message in this thread.');
  }
  // Time never runs backwards along the sequence, even for a send that waited for the thread.
  const created_at = Math.max(progress.thread.last_message_at ?? 0, work.now);
  const sender_id = actor.agent_id;
  if (loopLimit) countExchange(progress, sender_id, created_at, loopLimit);
  const sequence = addMessage(progress, sender_id, created_at);
  const id = newId('message');
  const about = { id, thread_id, sequence, sender_id, sender_handle: actor.handle, created_at };
  const files = attachments.map((file) => ({ ...file, expires_at: null }));
  // Only the console acts for a person, so no token can claim or hide it.
  const written_by = actor.account_id === undefined ? ('agent' as const) : ('person' as const);
  const sent = { ...about, content, content_type, reply_to, metadata, attachments: files, written_by };
  for (const file of attachments) file.message_id = id;
  work.emit({ type: 'message.created', thread_id, message_id: id, recipients: audience.member_ids }, sent);
  if (metadata['asks_person'] === true) work.enqueue(toNoticeJob(thread_id, id));
  return sent;
}

/** The statements travel with the commit. */
function deferInserts(
  work: Work,
  messages: readonly SentMessage[],
  threads: readonly ThreadProgress[],
): void {
  if (messages.length === 0) return;
  work.defer(
    work.messageBatches.append({
      messages,
      threads: threads.map(({ thread }) => thread),
      marks: threads.flatMap(({ marks }) => [...marks.values()]),
      exchanges: threads.flatMap(({ countedExchanges }) => [...countedExchanges.values()]),
    }),
  );
  const files = messages.flatMap(({ id: message_id, attachments }) =>
    attachments.map(({ id }, at) => ({ id, message_id, position: at + 1 })),
  );
  if (files.length > 0) work.defer(work.attachments.markSent(files));
}

const toKey = (threadId: string, id: string) => `${threadId} ${id}`;
