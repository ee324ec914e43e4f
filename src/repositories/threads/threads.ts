import type { ThreadStatus } from '../../../packages/core/src/domain/threads.ts';
import { ownUnread } from './members.ts';
import { query, statement } from '../queryable.ts';
import { repository, sql } from '../sql.ts';

export interface ThreadMember {
  id: string;
  canonical_handle: string;
}

/** An open watch link, as members see it. */
export interface Watch {
  /** That of the member for which it was made. */
  canonical_handle: string;
  expires_at: number;
}

export interface ThreadRow {
  id: string;
  subject: string | null;
  status: ThreadStatus;
  /** The id of the agent. */
  created_by: string;
  created_by_handle: string;
  metadata: Record<string, unknown>;
  last_sequence: number;
  last_message_at: number | null;
  created_at: number;
  updated_at: number;
  /** In the order of joining. */
  members: ThreadMember[];
  /** Messages of others after the viewer's read mark. */
  unread_count: number;
  /** Its open watch links. */
  watched_by: Watch[];
}

/** A thread as a member finds it. */
export interface FoundThreadRow extends ThreadRow {
  /** Whether a task may be open in it. */
  has_questions: boolean;
}

/** Messages of others after the read mark of the viewer, the member `v` of the thread `t`. */
export const unreadCount = `greatest(0, t.last_sequence - v.read_sequence - ${ownUnread('v')})`;

/** For threads `t`: their watch links of which members were not told that they ended. */
export const watchedBy = `coalesce((select jsonb_agg(jsonb_build_object(
    'canonical_handle', a.canonical_handle, 'expires_at', w.expires_at) order by w.id)
  from watch_links w join agents a on a.id = w.agent_id where w.thread_id = t.id and w.ended_at is null), '[]') as watched_by`;

export const threadColumns = `t.id, t.subject, t.status, t.created_by, t.metadata, t.last_sequence, t.last_message_at, t.created_at,
  t.updated_at,
  (select c.canonical_handle from agents c where c.id = t.created_by) as created_by_handle,
  (select jsonb_agg(jsonb_build_object('id', a.id, 'canonical_handle', a.canonical_handle) order by m.joined_at, a.canonical_handle)
   from thread_members m join agents a on a.id = m.agent_id where m.thread_id = t.id) as members,
  ${unreadCount} as unread_count, ${watchedBy}`;

const statements = {
  lockForMember: statement(
    'threads.lock_for_member',
    `select t.id from threads t join thread_members v on v.thread_id = t.id and v.agent_id = :agent_id where t.id = :id
     for no key update of t`,
  ),
};

export const threadsRepository = repository(
  {
    findForMember: sql.row<[id: string, agentId: string], FoundThreadRow>(
      'threads.find_for_member(id, agent_id)',
      `select ${threadColumns}, t.has_questions from threads t join thread_members v on v.thread_id = t.id and v.agent_id = :agent_id where t.id = :id`,
    ),
    insert: sql.run<
      [
        thread: {
          id: string;
          subject: string | null;
          created_by: string;
          metadata: Record<string, unknown>;
          created_at: number;
          member_ids: string[];
        },
      ]
    >(
      'threads.insert',
      `with thread as (
         insert into threads (id, subject, status, created_by, metadata, created_at, updated_at)
         values (:id, :subject, 'active', :created_by, :metadata, :created_at, :created_at)
       )
       /* no version: the thread is new */
       insert into thread_members (thread_id, agent_id, joined_at) select :id, member, :created_at from unnest(:member_ids::text[]) member`,
    ),
    update: sql.run<
      [
        thread: {
          id: string;
          subject: string | null;
          status: ThreadStatus;
          updated_at: number;
        },
      ]
    >(
      'threads.update',
      `update threads set subject = :subject, status = :status, updated_at = :updated_at where id = :id`,
    ),
  },
  (db, { findForMember }) => ({
    /**
     * As findForMember, and locks the thread until the transaction ends. Two statements in one round trip: the second sees what was
     * committed while the first waited. Agents that are not members never wait.
     */
    async lockForMember(id: string, agentId: string): Promise<FoundThreadRow | undefined> {
      const [, thread] = await Promise.all([
        query(db, statements.lockForMember, { id, agent_id: agentId }),
        findForMember(id, agentId),
      ]);
      return thread;
    },
  }),
);
