import type { ExchangeRow, LockedThread, WriterAudience } from '../repositories/messages/batches.ts';
import type { Repositories } from '../repositories/index.ts';
import type { Recorder } from './change-set.ts';

/** What decides which rows a send depends on. */
export interface SendToLoad {
  work: { db: Repositories; changes: Recorder; now: number; actor: { agent_id: string } };
  message: { thread_id: string; reply_to: string | null; attachment_ids: readonly string[] };
}

/** A thread, and how often pairs of its members have answered each other. */
export interface ThreadState {
  thread: LockedThread;
  exchanges: readonly ExchangeRow[];
}

/** What the messages of a batch depend on, besides their files. */
export interface LoadedBatch {
  threads: readonly ThreadState[];
  /** By the keys of thread and writer. */
  audiences: ReadonlyMap<string, WriterAudience>;
  /** The keys of thread and message of the existing ones among the messages that are replied to. */
  replyTargets: ReadonlySet<string>;
  /** Whether it was read in this transaction. Otherwise the transaction fails with ConcurrentChange if it is no longer so. */
  isRead: boolean;
  /** After the commit: keeps the state of changed threads, and of those that sent in them, for the next sends. */
  store(changed: readonly (ThreadState & { sender_ids: readonly string[] })[]): void;
}

/** The key of something in a thread. */
export const toKey = (threadId: string, id: string): string => `${threadId} ${id}`;

/** Loads what sends depend on. Implemented in services/messages/send-context. */
export interface SendContext {
  /**
   * Loads and locks the threads of a batch.
   * @param options.wait whether to wait for threads that another transaction has locked; otherwise they are left out.
   * @param options.mustRead whether everything must be read in this transaction.
   */
  load(sends: readonly SendToLoad[], options: { wait: boolean; mustRead: boolean }): Promise<LoadedBatch>;
  /** Forgets all threads: a new primary can lack commits, and then raises relation versions to the same numbers again. */
  clear(): void;
}
