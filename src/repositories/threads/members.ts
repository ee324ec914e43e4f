import type { DeliveredMark } from '../../domain/feed/receipts.ts';
import { type Queryable, statement, query } from '../queryable.ts';

/** A delivered mark that moved. */
export interface MovedMark {
  thread_id: string;
  agent_id: string;
  canonical_handle: string;
  /** Where it stood. */
  after: number;
  /** Where it stands. */
  up_to_sequence: number;
}

/** How far a member has got and read the messages of its thread. */
export interface MemberMarks {
  id: string;
  canonical_handle: string;
  delivered_sequence: number;
  read_sequence: number;
}

/** Messages before a mark that are looked through for their senders, at most. */
const maxMessagesScanned = 1_000;

const statements = {
  insert: statement(
    'thread_members.insert',
    `insert into thread_members (thread_id, agent_id, read_sequence, joined_at)
     values (:thread_id, :agent_id, :read_sequence, greatest(:joined_at, (select max(joined_at) + 1 from thread_members where thread_id = :thread_id)))`,
  ),
  remove: statement(
    'thread_members.remove',
    `delete from thread_members where thread_id = :thread_id and agent_id = :agent_id`,
  ),
  markRead: statement(
    'thread_members.mark_read',
    `update thread_members m set read_sequence = least(:sequence, t.last_sequence)
     from threads t
     where t.id = :thread_id and m.thread_id = t.id and m.agent_id = :agent_id and m.read_sequence < least(:sequence, t.last_sequence)
     returning m.read_sequence`,
  ),
  /**
   * Members are locked in one order, so that two of these never wait for each other in a circle; only those whose mark moves
   * are. A mark that another one moved meanwhile is read again behind the lock.
   */
  markDelivered: statement(
    'thread_members.mark_delivered',
    `with wish as (
       select thread_id, agent_id, max(sequence) as sequence from unnest(:thread_ids::text[], :agent_ids::text[], :sequences::int[]) w (thread_id, agent_id, sequence)
       group by thread_id, agent_id
     ), held as (
       select m.thread_id, m.agent_id, greatest(m.delivered_sequence, m.read_sequence) as mark
       from wish w join thread_members m on m.thread_id = w.thread_id and m.agent_id = w.agent_id
       where greatest(m.delivered_sequence, m.read_sequence) < w.sequence
       order by m.thread_id, m.agent_id for no key update of m
     )
     update thread_members m set delivered_sequence = least(w.sequence, t.last_sequence)
     from held h join wish w using (thread_id, agent_id) join threads t on t.id = h.thread_id join agents a on a.id = h.agent_id
     where m.thread_id = h.thread_id and m.agent_id = h.agent_id and h.mark < least(w.sequence, t.last_sequence)
     returning m.thread_id, m.agent_id, a.canonical_handle, h.mark as after, m.delivered_sequence as up_to_sequence`,
  ),
  /**
   * Members who are alone in having got a stretch of messages do not hear of their own ones. The planner must go by stretches
   * (offset 0): before a table has statistics it takes it for small and would read all messages there are.
   */
  holdSenders: statement(
    'thread_members.hold_senders',
    `select s.thread_id, s.agent_id
     from thread_members s join agents a on a.id = s.agent_id
     where a.retired_at is null and (s.thread_id, s.agent_id) in (
       select m.thread_id, m.sender_id
       from (select thread_id, after, upto, case when count(*) = 1 then min(taker) end as alone
             from unnest(:thread_ids::text[], :afters::int[], :up_to_sequences::int[], :agent_ids::text[]) w (thread_id, after, upto, taker)
             group by thread_id, after, upto) r
       cross join lateral (
         select thread_id, sender_id from messages
         where thread_id = r.thread_id and sequence > greatest(r.after, r.upto - ${maxMessagesScanned}) and sequence <= r.upto offset 0) m
       where m.sender_id is distinct from r.alone
     )
     for key share of s`,
  ),
  /** Locked in the order in which marks are. */
  markRemovedAsRead: statement(
    'thread_members.pass_over',
    `with held as (
       select m.thread_id, m.agent_id, e.sequence from unnest(:thread_ids::text[], :sequences::int[]) e (thread_id, sequence)
       cross join lateral (select * from thread_members where thread_id = e.thread_id offset 0) w
       join thread_members m on m.thread_id = w.thread_id and m.agent_id = w.agent_id and m.read_sequence < e.sequence
       order by m.thread_id, m.agent_id for no key update of m
     )
     update thread_members m set read_sequence = h.sequence
     from held h where m.thread_id = h.thread_id and m.agent_id = h.agent_id and m.read_sequence < h.sequence`,
  ),
  hold: statement(
    'thread_members.hold',
    `select m.agent_id from thread_members m join agents a on a.id = m.agent_id
     where m.thread_id = :thread_id and a.retired_at is null order by m.agent_id for key share of m`,
  ),
  listMarks: statement(
    'thread_members.list_marks',
    `select a.id, a.canonical_handle, greatest(m.delivered_sequence, m.read_sequence) as delivered_sequence, m.read_sequence
     from thread_members m join agents a on a.id = m.agent_id where m.thread_id = :thread_id
     order by m.joined_at, a.canonical_handle`,
  ),
};

export function threadMembersRepository(db: Queryable) {
  return {
    /**
     * Behind all who joined before, whatever the clock says: members are shown in the order of joining, and whoever heard of them
     * one by one must come to the same. The thread must be held. `read_sequence` is where the new member's unread messages begin.
     */
    async insert(member: {
      thread_id: string;
      agent_id: string;
      read_sequence: number;
      joined_at: number;
    }): Promise<void> {
      const { thread_id, agent_id, read_sequence, joined_at } = member;
      await query(db, statements.insert, { thread_id, agent_id, read_sequence, joined_at });
    },
    async remove(threadId: string, agentId: string): Promise<void> {
      await query(db, statements.remove, { thread_id: threadId, agent_id: agentId });
    },
    /**
     * Moves the read mark forward, at most to the latest message; answers where it stands now, or undefined when it did not
     * move.
     */
    async markRead(threadId: string, agentId: string, sequence: number): Promise<number | undefined> {
      const [row] = await query<{ read_sequence: number }>(db, statements.markRead, {
        thread_id: threadId,
        agent_id: agentId,
        sequence,
      });
      return row?.read_sequence;
    },
    /** Moves delivered marks forward, at most to the latest message; answers those that moved. Who is no member has none. */
    markDelivered(marks: readonly DeliveredMark[]): Promise<MovedMark[]> {
      return query<MovedMark>(db, statements.markDelivered, {
        thread_ids: marks.map((mark) => mark.thread_id),
        agent_ids: marks.map((mark) => mark.agent_id),
        sequences: marks.map((mark) => mark.sequence),
      });
    },
    /**
     * The senders, still members, of the messages that these marks passed. They stay members until the transaction ends, so
     * that nobody who is removed meanwhile is told.
     */
    holdSenders(moved: readonly MovedMark[]): Promise<{ thread_id: string; agent_id: string }[]> {
      return query<{ thread_id: string; agent_id: string }>(db, statements.holdSenders, {
        thread_ids: moved.map((mark) => mark.thread_id),
        afters: moved.map((mark) => mark.after),
        up_to_sequences: moved.map((mark) => mark.up_to_sequence),
        agent_ids: moved.map((mark) => mark.agent_id),
      });
    },
    /** Counts messages up to these sequences as read by every member: they are gone. */
    async markRemovedAsRead(ends: readonly { thread_id: string; sequence: number }[]): Promise<void> {
      await query(db, statements.markRemovedAsRead, {
        thread_ids: ends.map((end) => end.thread_id),
        sequences: ends.map((end) => end.sequence),
      });
    },
    /** The ids of all members. They stay members until the transaction ends, so that nobody who is removed meanwhile is told. */
    async hold(threadId: string): Promise<string[]> {
      const rows = await query<{ agent_id: string }>(db, statements.hold, { thread_id: threadId });
      return rows.map(({ agent_id }) => agent_id);
    },
    /** The marks of all members, in the order in which they joined. */
    listMarks(threadId: string): Promise<MemberMarks[]> {
      return query<MemberMarks>(db, statements.listMarks, { thread_id: threadId });
    },
  };
}
