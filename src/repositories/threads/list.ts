import type { ThreadStatus } from '../../../packages/core/src/domain/threads.ts';
import { hideFromPlanner } from '../queryable.ts';
import { repository, sql } from '../sql.ts';
import { threadColumns, type ThreadRow, unreadCount } from './threads.ts';

/** A position in the list as it was when its first page was read. */
export interface ThreadListPosition {
  /** Activity (ms) and id of the last thread of the previous page. */
  activity: number;
  id: string;
  /** The snapshot in which the first page was read (pg_snapshot). */
  snapshot: string;
  /** The time of that snapshot, in milliseconds. */
  since: number;
}

export interface ThreadFilter {
  status: ThreadStatus | null;
  with_handle: string | null;
  updated_since: number | null;
  /** Whether only threads with unread messages are listed. */
  unread: boolean;
  limit: number;
}

export interface ListedThread extends ThreadRow {
  /** The time by which the thread is sorted, in milliseconds. */
  activity: number;
  /** The snapshot of this page. That of the first page applies to the list. */
  snapshot: string;
}

/** The maximum clock error of a process plus the duration of a transaction. */
const marginMs = 3_600_000;

/** One plan for all lists: planning takes four times as long as reading a few threads. */
const hidden = {
  agent_id: hideFromPlanner(':agent_id', 'text'),
  status: hideFromPlanner(':status', 'text'),
  with_handle: hideFromPlanner(':with_handle', 'text'),
  updated_since: hideFromPlanner(':updated_since', 'bigint'),
  unread: hideFromPlanner(':unread', 'boolean'),
  snapshot: hideFromPlanner(':snapshot', 'pg_snapshot'),
  since: hideFromPlanner(':since', 'bigint'),
  activity: hideFromPlanner(':activity', 'bigint'),
  id: hideFromPlanner(':id', 'text'),
  limit: hideFromPlanner(':limit', 'int'),
};

/**
 * Threads of an agent; archived ones only with `status: archived`. Newest activity first. The lateral join reads threads one by one: the
 * planner does not know how few an agent has, and would scan the table.
 */
const listBy = (activity: string, condition: string) =>
  `select ${threadColumns}, o.activity, pg_current_snapshot()::text as snapshot
   from thread_members v
   cross join lateral (select *, xmin as version from threads where id = v.thread_id limit 1) t
   cross join lateral (select ${activity} as activity) o
   where v.agent_id = ${hidden.agent_id}
     and (t.status = ${hidden.status} or (${hidden.status} is null and t.status <> 'archived'))
     and (${hidden.with_handle} is null or exists (
       select from thread_members w join agents a on a.id = w.agent_id
       where w.thread_id = t.id and w.agent_id <> v.agent_id and a.canonical_handle = ${hidden.with_handle}))
     and (${hidden.updated_since} is null or t.updated_at >= ${hidden.updated_since})
     and (not ${hidden.unread} or ${unreadCount} > 0)
     and ${condition}
   order by o.activity desc, t.id desc
   limit ${hidden.limit}`;

const activityNow = 'coalesce(t.last_message_at, t.created_at)';

export const threadListRepository = repository({
  /** The first page. Its statement names no messages, because PostgreSQL prepares each of their partitions at each call. */
  list: sql.rows<[agentId: string, filter: ThreadFilter], ListedThread>(
    'threads.list',
    listBy(activityNow, 'true'),
    (agent_id, filter) => ({ agent_id, ...filter }),
  ),
  /**
   * A later page. Every message changes the order, so it sorts by the activity at the time of the first page: a thread with new messages
   * keeps its position, and is neither skipped nor repeated. Only threads that changed since then need a look at their messages.
   */
  listAfter: sql.rows<[agentId: string, filter: ThreadFilter, after: ThreadListPosition], ListedThread>(
    'threads.list_after',
    listBy(
      `case when t.updated_at < ${hidden.since} or was_seen(t.version, ${hidden.snapshot}) then ${activityNow}
       else coalesce((select m.created_at from messages m where m.thread_id = t.id and was_seen(m.xmin, ${hidden.snapshot})
                      order by m.sequence desc limit 1), t.created_at)
       end`,
      `(o.activity, t.id) < (${hidden.activity}, ${hidden.id})`,
    ),
    (agent_id, filter, after) => ({ agent_id, ...filter, ...after, since: after.since - marginMs }),
  ),
});
