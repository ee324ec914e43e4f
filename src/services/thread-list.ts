import type { ThreadStatus } from '../domain/threads.ts';
import type { Work } from '../unit-of-work.ts';

export interface ListThreads {
  status: ThreadStatus | null;
  with_handle: string | null;
  updated_since: number | null;
  limit: number;
  cursor?: string | undefined;
}

/**
 * A page of the actor's threads, newest activity first. Threads that get messages while the pages are read are neither missed nor
 * shown twice: later pages keep the order that the first one saw.
 * @throws {DomainError} INVALID_CURSOR
 */
export async function listThreads(work: Work, { cursor, limit, ...filter }: ListThreads) {
  const agentId = work.actor.agent_id;
  const { status, with_handle, updated_since } = filter;
  const binding = JSON.stringify(['list_threads', agentId, status, with_handle, updated_since]);
  const after = cursor === undefined ? null : positionOf(work.cursors.decode(binding, cursor));
  const rows = await work.threadList.list(agentId, { ...filter, after, limit: limit + 1 });
  const threads = rows.slice(0, limit);
  const last = threads.at(-1);
  if (!last || rows.length <= limit) return { threads, next_cursor: undefined };
  const first = after ?? { snapshot: last.snapshot, since: work.now };
  const position = [last.activity, last.id, first.snapshot, first.since];
  return { threads, next_cursor: work.cursors.encode(binding, position) };
}

function positionOf([activity, id, snapshot, since]: (string | number | null)[]) {
  return { activity: Number(activity), id: String(id), snapshot: String(snapshot), since: Number(since) };
}
