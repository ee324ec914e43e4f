import type { ListedThread } from '../../repositories/threads/list.ts';
import { parseHandle } from '../../../packages/core/src/domain/agents/handles.ts';
import type { ThreadStatus } from '../../../packages/core/src/domain/threads.ts';
import type { Work } from '../../work/unit-of-work.ts';
import { type PageRequest, readPage } from '../paging.ts';

export interface ListThreads extends PageRequest {
  /** Absent: all threads that are not archived. */
  status?: ThreadStatus | undefined;
  with_handle?: string | undefined;
  /** Milliseconds. */
  updated_since?: number | undefined;
  /** Only threads with unread messages. */
  unread?: boolean | undefined;
}

/** A position in the order of the first page: the thread's activity, and the snapshot and time of that page. */
type Position = readonly [activity: number, id: string, snapshot: string, since: number];

/**
 * A page of the actor's threads, newest activity first. Later pages keep the order of the first one: threads with new messages are neither
 * missed nor listed twice.
 * @throws {DomainError} INVALID_HANDLE, INVALID_CURSOR
 */
export async function listThreads(work: Work, input: ListThreads) {
  const { status = null, updated_since = null, unread = false } = input;
  const with_handle = input.with_handle === undefined ? null : parseHandle(input.with_handle).canonical;
  const { rows, next_cursor } = await readPage(work, input, {
    binding: ['list_threads', status, with_handle, updated_since, ...(unread ? ['unread'] : [])],
    async rows(last: Position | null, limit) {
      const after = last && toPosition(last);
      const { agent_id } = work.actor;
      const { threadList } = work.db;
      const filter = { status, with_handle, updated_since, unread, limit };
      const threads = await (after
        ? threadList.listAfter(agent_id, filter, after)
        : threadList.list(agent_id, filter));
      const since = after?.since ?? work.now;
      const first = after?.snapshot ?? work.snapshot;
      return threads.map((thread) => ({ thread, since, snapshot: first ?? thread.snapshot }));
    },
    position: ({ thread, snapshot, since }): Position => [thread.activity, thread.id, snapshot, since],
  });
  return { rows: rows.map(({ thread }) => thread), next_cursor };
}

/** The last message of each of these threads, by thread: its sender and its first 400 characters. */
export async function readLastMessages({ db: { messages } }: Work, threads: readonly ListedThread[]) {
  const rows = await messages.listLast(threads.filter(({ last_sequence }) => last_sequence > 0));
  return new Map(
    rows.map(({ thread_id, id, sequence, sender_id, sender_handle, preview }) => {
      const sender = { id: sender_id, canonical_handle: sender_handle };
      return [thread_id, { id, sequence, sender, preview }] as const;
    }),
  );
}

function toPosition([activity, id, snapshot, since]: Position) {
  return { activity, id, snapshot, since };
}
