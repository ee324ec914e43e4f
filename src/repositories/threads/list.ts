import type { ThreadStatus } from '../../domain/threads.ts';
import { type Queryable, statement, query } from '../queryable.ts';
import { threadColumns, type ThreadRow } from './threads.ts';

/** A place in the list as it stood when its first page was read. */
export interface ThreadListPosition {
  /** Activity and id of the last thread already seen; in milliseconds. */
  activity: number;
  id: string;
  /** What had been committed when the first page was read, as PostgreSQL writes it (pg_snapshot). */
  snapshot: string;
  /** When that was, in milliseconds. */
  since: number;
}

export interface ThreadFilter {
  status: ThreadStatus | null;
  with_handle: string | null;
  updated_since: number | null;
  after: ThreadListPosition | null;
  limit: number;
}

export interface ListedThread extends ThreadRow {
  /** The time by which the thread is sorted, in milliseconds. */
  activity: number;
  /** The snapshot of this page; the first page's one is that of the list. */
  snapshot: string;
}

/** No clock of the service is wrong by more, and no transaction takes longer. */
const marginMs = 3_600_000;

/**
 * Newest activity first. The order moves with every message, so the pages after the first one sort by the activity that the first
 * one saw: a thread that got messages since then keeps its place, and is neither missed nor shown twice. Only threads that
 * changed since then are looked into, and only as far back as that. Threads are fetched one by one: the planner, which does not
 * know how few of them are one agent's, would read them all.
 */
const list = statement(
  'threads.list',
  `select ${threadColumns}, o.activity, pg_current_snapshot()::text as snapshot
   from thread_members v
   cross join lateral (select *, xmin as version from threads where id = v.thread_id limit 1) t
   cross join lateral (select case
     when :snapshot::pg_snapshot is null or t.updated_at < :since::bigint or was_seen(t.version, :snapshot::pg_snapshot)
     then coalesce(t.last_message_at, t.created_at)
     else coalesce((select m.created_at from messages m where m.thread_id = t.id and was_seen(m.xmin, :snapshot::pg_snapshot)
                    order by m.sequence desc limit 1), t.created_at)
     end as activity) o
   where v.agent_id = :agent_id
     and (t.status = :status or (:status::text is null and t.status <> 'archived'))
     and (:with_handle::text is null or exists (
       select from thread_members w join agents a on a.id = w.agent_id
       where w.thread_id = t.id and w.agent_id <> :agent_id and a.canonical_handle = :with_handle))
     and (:updated_since::bigint is null or t.updated_at >= :updated_since)
     and (:activity::bigint is null or (o.activity, t.id) < (:activity, :id))
   order by o.activity desc, t.id desc
   limit :limit`,
);

export function threadListRepository(db: Queryable) {
  return {
    /** Threads of an agent; archived ones only when asked for. */
    list(agentId: string, filter: ThreadFilter): Promise<ListedThread[]> {
      const { status, with_handle, updated_since, after, limit } = filter;
      return query<ListedThread>(db, list, {
        agent_id: agentId,
        status,
        with_handle,
        updated_since,
        snapshot: after?.snapshot ?? null,
        since: after && after.since - marginMs,
        activity: after?.activity ?? null,
        id: after?.id ?? null,
        limit,
      });
    },
  };
}
