import type { TaskState } from '../../../packages/core/src/domain/tasks.ts';
import { isOnline } from '../agents/presence.ts';
import { previewOf } from '../messages/messages.ts';
import { repository } from '../sql.ts';
import { questionsOfMine } from '../tasks/questions.ts';
import { forReader, isMuted, maxPreviewCharacters } from './conversations.ts';

/** An agent that has not answered a question. */
export interface WaitRow {
  thread_id: string;
  subject: string | null;
  /** Null for a message that expects a reply and opened no task. */
  task_id: string | null;
  /** The message that asks. */
  message_id: string;
  /** Its first characters. */
  preview: string;
  state: TaskState | null;
  overdue: boolean;
  /** Since when the other agent has to answer, in milliseconds. */
  since: number;
  /** The agent that asks. */
  sender_id: string;
  sender_handle: string;
  /** The agent that has not answered. */
  member_id: string;
  member_handle: string;
  /** Whether it is one of the reader's agents. */
  is_own: boolean;
  /** Whether the message that asks was delivered to it. */
  received: boolean;
  is_online: boolean;
  paused: boolean;
  asks_person: boolean;
  /** Whether the message asks for a person, or the agent is one of the reader's and has a pending approval. */
  needs_person: boolean;
  /** Whether the person who reads has muted the thread. */
  muted: boolean;
}

/** Open questions of all agents that the same people may act as. */
export const waitsRepository = repository({
  /**
   * At most `limit` questions since a time (ms), those that wait the longest first. Those of muted threads are left out first. It starts at the
   * questions of the reader's agents, so its cost does not grow with their threads.
   */
  list: forReader<{ since: number; now: number; limit: number }, WaitRow, WaitRow[]>(
    'waits.list',
    (mine, marks) => `with mine as materialized (select a.id from ${mine}
     ), question as materialized (${questionsOfMine}
     ), listed as (
       select q.*, ${isMuted} as muted from question q cross join lateral (select q.thread_id as id) t ${marks}
       where q.since >= :since
       order by ${isMuted} and not q.asks_person, q.since, q.message_id limit :limit)
     select q.thread_id, t.subject, q.task_id, q.message_id, q.state, q.overdue, q.since, q.asks_person,
       coalesce((select ${previewOf(maxPreviewCharacters)} from messages m where m.id = q.message_id), '') as preview,
       s.id as sender_id, s.canonical_handle as sender_handle, a.id as member_id, a.canonical_handle as member_handle,
       a.id in (select id from mine) as is_own, a.paused, greatest(m.delivered_sequence, m.read_sequence) >= q.sequence as received, ${isOnline},
       q.asks_person or a.id in (select id from mine) and exists (
         select from approvals p where p.agent_id = a.id and p.state = 'pending' and p.expires_at > :now) as needs_person, q.muted
     from listed q
     join threads t on t.id = q.thread_id and t.status = 'active'
     join agents s on s.id = q.asker_id and s.retired_at is null
     join agents a on a.id = q.asked_id and a.retired_at is null
     join thread_members m on m.thread_id = q.thread_id and m.agent_id = q.asked_id
     order by q.since, q.message_id, a.canonical_handle`,
    (rows) => rows,
  ),
});
