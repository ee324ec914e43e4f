import type { WriterAudience } from '../../repositories/messages/batches.ts';
import type { Work } from '../../work/unit-of-work.ts';
import type { KnownThread } from '../../work/known-threads.ts';
import { type LockedFiles, lockFiles } from '../attachments/files-to-send.ts';
import { knowsExchanges, listExchanges, startProgress, type ThreadProgress } from './thread-progress.ts';

/** What decides which rows a send depends on. */
interface SendToLoad {
  work: Work;
  message: { thread_id: string; reply_to: string | null; attachment_ids: readonly string[] };
}

/** What the messages of a batch depend on. */
export interface LoadedBatch {
  /** By id. */
  threads: ReadonlyMap<string, ThreadProgress>;
  /** By the keys of thread and writer. */
  audiences: ReadonlyMap<string, WriterAudience>;
  /** Whether it was read in this transaction. Otherwise the transaction fails if it is no longer so. */
  isRead: boolean;
  files: LockedFiles;
  /** The keys of thread and message of the existing ones among the messages that are replied to. */
  replyTargets: ReadonlySet<string>;
}

/** The key of something in a thread. */
export const toKey = (threadId: string, id: string): string => `${threadId} ${id}`;

/**
 * Loads a batch from memory. The transaction fails with ConcurrentChange if its threads have changed.
 * @returns null if something must be read.
 */
export function takeKnown(work: Work, sends: readonly SendToLoad[]): LoadedBatch | null {
  if (sends.some(({ message }) => message.attachment_ids.length > 0)) return null;
  const known: KnownThread[] = [];
  const audiences: WriterAudience[] = [];
  for (const [thread_id, writer_ids] of listWritersByThread(sends)) {
    const thread = work.settings.knownThreads.take(thread_id, writer_ids, work.now);
    if (!thread || (work.settings.loopLimit && !knowsExchanges(thread, writer_ids))) return null;
    known.push(thread);
    audiences.push(...new Set(writer_ids.flatMap((id) => thread.audiences.get(id) ?? [])));
  }
  // The audiences of a thread share their members.
  const oneOfEach = new Map(audiences.map((audience) => [audience.thread_id, audience]));
  for (const { member_ids, relation_versions } of oneOfEach.values())
    for (const [at, id] of member_ids.entries()) work.changes.expectRelations(id, relation_versions[at] ?? 0);
  work.changes.defer(work.db.messageBatches.lockUnchanged(known.map(({ thread }) => thread)));
  const replies = listReplies(sends);
  if (replies.length > 0) work.changes.defer(work.db.messageBatches.requireReplyTargets(replies));
  return {
    threads: new Map(known.map(({ thread, exchanges }) => [thread.id, startProgress(thread, exchanges)])),
    audiences: new Map(audiences.map((audience) => [toKey(audience.thread_id, audience.agent_id), audience])),
    isRead: false,
    files: new Map(),
    replyTargets: new Set(replies.map(({ thread_id, id }) => toKey(thread_id, id))),
  };
}

/** After the commit: keeps the state of the changed threads for the next sends. */
export function remember(
  { settings: { knownThreads }, now }: Work,
  { audiences, isRead }: LoadedBatch,
  changed: readonly ThreadProgress[],
): void {
  for (const progress of changed) {
    const { thread, marks } = progress;
    const senders = isRead ? [...marks.keys()] : [];
    const own = senders.flatMap((id) => audiences.get(toKey(thread.id, id)) ?? []);
    knownThreads.remember({ thread, exchanges: listExchanges(progress), audiences: own, now });
  }
}

/** Reads a batch in one round trip. Files and replies add a statement each, for all messages together. */
export async function loadBatch(
  work: Work,
  sends: readonly SendToLoad[],
  { wait }: { wait: boolean },
): Promise<LoadedBatch> {
  const {
    db: { messageBatches },
    settings: { loopLimit },
  } = work;
  const writers = listWriters(sends);
  const replies = listReplies(sends);
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
  const audienceOf = new Map(audiences.map((audience) => [audience.thread_id, audience]));
  for (const thread of threads) work.settings.knownThreads.observe(thread, audienceOf.get(thread.id));
  return {
    threads: new Map(threads.map((thread) => [thread.id, startProgress(thread, exchanges)])),
    audiences: new Map(audiences.map((audience) => [toKey(audience.thread_id, audience.agent_id), audience])),
    isRead: true,
    files,
    replyTargets: new Set(targets.map(({ thread_id, id }) => toKey(thread_id, id))),
  };
}

/** The senders of each thread, in the order of its messages. */
function listWritersByThread(sends: readonly SendToLoad[]): Map<string, string[]> {
  const writers = new Map<string, string[]>();
  for (const { work, message } of sends) {
    const own = writers.get(message.thread_id) ?? [];
    own.push(work.actor.agent_id);
    writers.set(message.thread_id, own);
  }
  return writers;
}

/** The messages that are replied to. */
function listReplies(sends: readonly SendToLoad[]): { thread_id: string; id: string }[] {
  return sends.flatMap(({ message: { thread_id, reply_to: id } }) =>
    id === null ? [] : [{ thread_id, id }],
  );
}

/** The sender and thread of each message, without duplicates. */
function listWriters(sends: readonly SendToLoad[]): { thread_id: string; agent_id: string }[] {
  const writers = sends.map(({ work: { actor }, message: { thread_id } }) => {
    return { thread_id, agent_id: actor.agent_id };
  });
  return [...new Map(writers.map((writer) => [toKey(writer.thread_id, writer.agent_id), writer])).values()];
}
