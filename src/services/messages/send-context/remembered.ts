import type { WriterAudience } from '../../../repositories/messages/batches.ts';
import { type LoadedBatch, type SendContext, type SendToLoad, toKey } from '../../../work/send-context.ts';
import { type Pair, toPair, toPairKey } from '../thread-progress.ts';
import { findDifferences, isCurrent } from './compare.ts';
import { listReplies, type ReadBatch, readBatch } from './read.ts';
import { createThreadCache, type CachedThread, type Outcome } from './thread-cache.ts';

export interface RememberedParts {
  /** Whether exchanges count. */
  hasLoopLimit: boolean;
  /** Whether a batch from the cache is read as well, and then not used. */
  isCompared: boolean;
  /** Called for each thread of each commit. */
  onThread(outcome: Outcome): void;
  /** Called when a cached thread differs from the database and its transaction would not have failed. */
  onDifference(description: string): void;
}

/**
 * Keeps threads between two sends, so that the next send reads nothing first: its transaction fails if another one has changed what it
 * relies on.
 */
export function createRememberedContext({
  hasLoopLimit,
  isCompared,
  onThread,
  onDifference,
}: RememberedParts): SendContext {
  const cache = createThreadCache(onThread);

  function reserve(sends: readonly SendToLoad[], now: number): CachedThread[] | null {
    if (sends.some(({ message }) => message.attachment_ids.length > 0)) return null;
    const wanted = listWritersByThread(sends);
    return cache.reserve(
      wanted,
      now,
      (cached, writerIds) =>
        !cached.thread.has_questions && (!hasLoopLimit || knowsExchanges(cached, writerIds)),
    );
  }

  function storeHit(changed: Parameters<LoadedBatch['store']>[0], now: number): void {
    for (const { thread, exchanges } of changed) cache.store({ thread, exchanges, audiences: [], now });
  }

  async function read(sends: readonly SendToLoad[], wait: boolean, now: number): Promise<LoadedBatch> {
    const batch = await readBatch(sends, { wait, hasLoopLimit });
    return storeAsRead(batch, now);
  }

  function storeAsRead(batch: ReadBatch, now: number): LoadedBatch {
    const audienceOf = new Map(
      [...batch.audiences.values()].map((audience) => [audience.thread_id, audience]),
    );
    for (const { thread } of batch.threads) cache.compare(thread, audienceOf.get(thread.id));
    return {
      ...batch,
      store(changed) {
        for (const { thread, exchanges, sender_ids } of changed) {
          const audiences = sender_ids.flatMap((id) => batch.audiences.get(toKey(thread.id, id)) ?? []);
          cache.store({ thread, exchanges, audiences, now });
        }
      },
    };
  }

  /** Reads what is reserved. What the transaction would not have noticed is a difference. */
  async function readReserved(
    reserved: readonly CachedThread[],
    sends: readonly SendToLoad[],
    wait: boolean,
    { db, now }: SendToLoad['work'],
  ): Promise<LoadedBatch> {
    const batch = await readBatch(sends, { wait, hasLoopLimit });
    const ids = new Set(listAudiences(reserved).flatMap(({ member_ids }) => member_ids));
    // Read last: a change between both statements counts as noticed.
    const versions = await db.agents.listRelationVersions([...ids]);
    if (!isCurrent(reserved, batch, versions)) return storeAsRead(batch, now);
    for (const difference of findDifferences(reserved, batch)) onDifference(difference);
    const exchangesOf = new Map(reserved.map(({ thread, exchanges }) => [thread.id, exchanges]));
    const threads = batch.threads.map(({ thread, exchanges }) => {
      return { thread, exchanges: [...(exchangesOf.get(thread.id) ?? []), ...exchanges] };
    });
    return { ...batch, threads, store: (changed) => storeHit(changed, now) };
  }

  return {
    async load(sends, { wait, mustRead }) {
      const [first] = sends;
      if (!first) throw new Error('an empty batch');
      const { now } = first.work;
      const reserved = mustRead ? null : reserve(sends, now);
      if (!reserved) return read(sends, wait, now);
      if (isCompared) return readReserved(reserved, sends, wait, first.work);
      return { ...expectUnchanged(reserved, sends, first.work), store: (changed) => storeHit(changed, now) };
    },
    clear: cache.clear,
  };
}

/** A batch of cached threads. The transaction fails with ConcurrentChange if they have changed. */
function expectUnchanged(
  reserved: readonly CachedThread[],
  sends: readonly SendToLoad[],
  { db, changes }: SendToLoad['work'],
): ReadBatch {
  const audiences = listAudiences(reserved);
  // The audiences of a thread share their members.
  const oneOfEach = new Map(audiences.map((audience) => [audience.thread_id, audience]));
  for (const { member_ids, relation_versions } of oneOfEach.values())
    for (const [at, id] of member_ids.entries()) changes.expectRelations(id, relation_versions[at] ?? 0);
  changes.defer(db.messageBatches.lockUnchanged(reserved.map(({ thread }) => thread)));
  const replies = listReplies(sends);
  if (replies.length > 0) changes.defer(db.messageBatches.requireReplyTargets(replies));
  return {
    threads: reserved,
    audiences: new Map(audiences.map((audience) => [toKey(audience.thread_id, audience.agent_id), audience])),
    replyTargets: new Set(replies.map(({ thread_id, id }) => toKey(thread_id, id))),
    isRead: false,
  };
}

const listAudiences = (threads: readonly CachedThread[]): WriterAudience[] =>
  threads.flatMap(({ audiences }) => [...audiences.values()]);

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

/** Whether the exchanges are known that messages of these senders, in this order, can count. */
function knowsExchanges(
  { thread, exchanges }: Pick<CachedThread, 'thread'> & { exchanges: readonly Pair[] },
  senderIds: readonly string[],
): boolean {
  const known = new Set(exchanges.map(toPairKey));
  return senderIds.every((senderId, at) => {
    const last = at === 0 ? thread.last_sender_id : senderIds[at - 1];
    return !last || last === senderId || known.has(toPairKey(toPair(senderId, last)));
  });
}
