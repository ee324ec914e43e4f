import type { DeliveredMark } from '../../../packages/core/src/domain/feed/receipts.ts';
import { repository, sql } from '../sql.ts';

/** A delivered mark that moved. */
export interface MovedMark {
  thread_id: string;
  agent_id: string;
  canonical_handle: string;
  /** The sequence before. */
  after: number;
  /** The sequence now. */
  up_to_sequence: number;
}

/** The delivered and read marks of a member. */
export interface MemberMarks {
  id: string;
  canonical_handle: string;
  delivered_sequence: number;
  read_sequence: number;
  handled_sequence: number;
  is_remote: boolean;
}

/** At most this many messages before a mark are read to find their senders. */
const maxMessagesScanned = 1_000;

/** The member's own messages after its read mark. A process of the previous release moves the mark without the count. */
export const ownUnread = (member: string): string =>
  `case when ${member}.own_unread_after = ${member}.read_sequence then ${member}.own_unread else 0 end`;

export const threadMembersRepository = repository({
  /**
   * Adds a member to a locked thread. It joins after all other members, whatever the clock shows: clients order members by time of
   * joining and by events, and both must agree. Messages after `read_sequence` are unread. The lock waits for handled marks that are
   * being moved: their events are for the members without the new one.
   */
  insert: sql.run<
    [
      member: {
        thread_id: string;
        agent_id: string;
        read_sequence: number;
        joined_at: number;
        /** The member that adds it. */
        by_id: string;
      },
    ]
  >(
    'thread_members.insert',
    `with thread as (select id from threads where id = :thread_id for update)
     insert into thread_members (thread_id, agent_id, read_sequence, joined_at)
     select id, :agent_id, :read_sequence, greatest(:joined_at, (select max(joined_at) + 1 from thread_members where thread_id = :thread_id)) from thread
     returning :by_id::text as raised_id`,
  ),
  /** @param byId the member that removes it, which can be itself. */
  remove: sql.run<[threadId: string, agentId: string, byId: string]>(
    'thread_members.remove(thread_id, agent_id, by_id)',
    `delete from thread_members where thread_id = :thread_id and agent_id = :agent_id
     returning :by_id::text as raised_id`,
  ),
  /** Moves the read mark forward, at most to the latest message. Returns the new mark; undefined when it did not move. */
  markRead: sql.value<[threadId: string, agentId: string, sequence: number], number | undefined>(
    'thread_members.mark_read(thread_id, agent_id, sequence)',
    `update thread_members m set read_sequence = least(:sequence, t.last_sequence), own_unread_after = least(:sequence, t.last_sequence),
       own_unread = case when m.own_unread = 0 then 0 else greatest(0, ${ownUnread('m')} - (
         select count(*) from messages o where o.thread_id = m.thread_id and o.sender_id = m.agent_id
           and o.sequence > m.read_sequence and o.sequence <= least(:sequence, t.last_sequence))) end
     from threads t
     where t.id = :thread_id and m.thread_id = t.id and m.agent_id = :agent_id and m.read_sequence < least(:sequence, t.last_sequence)
     returning m.read_sequence`,
  ),
  /**
   * Moves delivered marks forward, at most to the latest message. Returns those that moved; skips agents that are not members. Locks the
   * members whose mark moves, in one order, so that two of these never deadlock. After the lock, marks that another transaction moved
   * are read again.
   */
  markDelivered: sql.rows<[marks: readonly DeliveredMark[]], MovedMark>(
    'thread_members.mark_delivered',
    `with requested as (
       select thread_id, agent_id, max(sequence) as sequence from unnest(:thread_ids::text[], :agent_ids::text[], :sequences::int[]) w (thread_id, agent_id, sequence)
       group by thread_id, agent_id
     ), locked as (
       select m.thread_id, m.agent_id, greatest(m.delivered_sequence, m.read_sequence) as mark
       from requested w join thread_members m on m.thread_id = w.thread_id and m.agent_id = w.agent_id
       where greatest(m.delivered_sequence, m.read_sequence) < w.sequence
       order by m.thread_id, m.agent_id for no key update of m
     )
     update thread_members m set delivered_sequence = least(w.sequence, t.last_sequence)
     from locked l join requested w using (thread_id, agent_id) join threads t on t.id = l.thread_id join agents a on a.id = l.agent_id
     where m.thread_id = l.thread_id and m.agent_id = l.agent_id and l.mark < least(w.sequence, t.last_sequence)
     returning m.thread_id, m.agent_id, a.canonical_handle, l.mark as after, m.delivered_sequence as up_to_sequence`,
    (marks) => ({
      thread_ids: marks.map((mark) => mark.thread_id),
      agent_ids: marks.map((mark) => mark.agent_id),
      sequences: marks.map((mark) => mark.sequence),
    }),
  ),
  /**
   * The senders of the messages that these marks passed, if they are members. Locks them until the transaction ends, so that no removed
   * member is notified. A member that is the only one to move over a range of messages is not a sender to notify of its own. `offset 0`
   * makes the planner go by ranges: it takes a table without statistics for small and would scan all messages.
   */
  lockSenders: sql.rows<[moved: readonly MovedMark[]], { thread_id: string; agent_id: string }>(
    'thread_members.lock_senders',
    `select s.thread_id, s.agent_id
     from thread_members s join agents a on a.id = s.agent_id
     where a.retired_at is null and (s.thread_id, s.agent_id) in (
       select m.thread_id, m.sender_id
       from (select thread_id, after, up_to, case when count(*) = 1 then min(agent_id) end as only_agent_id
             from unnest(:thread_ids::text[], :afters::int[], :up_to_sequences::int[], :agent_ids::text[]) w (thread_id, after, up_to, agent_id)
             group by thread_id, after, up_to) r
       cross join lateral (
         select thread_id, sender_id from messages
         where thread_id = r.thread_id and sequence > greatest(r.after, r.up_to - ${maxMessagesScanned}) and sequence <= r.up_to offset 0) m
       where m.sender_id is distinct from r.only_agent_id
     )
     for key share of s`,
    (moved) => ({
      thread_ids: moved.map((mark) => mark.thread_id),
      afters: moved.map((mark) => mark.after),
      up_to_sequences: moved.map((mark) => mark.up_to_sequence),
      agent_ids: moved.map((mark) => mark.agent_id),
    }),
  ),
  /** Marks removed messages, up to these sequences, as read by all members. Locks members in the order that markDelivered uses. */
  markRemovedAsRead: sql.run<[ends: readonly { thread_id: string; sequence: number }[]]>(
    'thread_members.mark_removed_as_read',
    `with locked as (
       select m.thread_id, m.agent_id, e.sequence from unnest(:thread_ids::text[], :sequences::int[]) e (thread_id, sequence)
       cross join lateral (select * from thread_members where thread_id = e.thread_id offset 0) w
       join thread_members m on m.thread_id = w.thread_id and m.agent_id = w.agent_id and m.read_sequence < e.sequence
       order by m.thread_id, m.agent_id for no key update of m
     )
     update thread_members m set read_sequence = l.sequence, own_unread_after = l.sequence,
       own_unread = case when m.own_unread = 0 then 0 else (
         select count(*) from messages o where o.thread_id = m.thread_id and o.sender_id = m.agent_id and o.sequence > l.sequence) end
     from locked l where m.thread_id = l.thread_id and m.agent_id = l.agent_id and m.read_sequence < l.sequence`,
    (ends) => ({
      thread_ids: ends.map((end) => end.thread_id),
      sequences: ends.map((end) => end.sequence),
    }),
  ),
  /** The ids of all members, locked until the transaction ends, so that no removed member is notified. */
  lock: sql.values<[threadId: string], string>(
    'thread_members.lock',
    `select m.agent_id from thread_members m join agents a on a.id = m.agent_id
     where m.thread_id = :thread_id and a.retired_at is null order by m.agent_id for key share of m`,
  ),
  /** The marks of all members, in the order of joining. */
  listMarks: sql.rows<[threadId: string], MemberMarks>(
    'thread_members.list_marks',
    `select a.id, a.canonical_handle, greatest(m.delivered_sequence, m.read_sequence) as delivered_sequence, m.read_sequence, m.handled_sequence,
       a.scope = 'remote' as is_remote
     from thread_members m join agents a on a.id = m.agent_id where m.thread_id = :thread_id
     order by m.joined_at, a.canonical_handle`,
  ),
});
