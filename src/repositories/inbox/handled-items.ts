import { repository, sql } from '../sql.ts';
import { leaseClock } from './lease-clock.ts';
import { ownUnread } from '../threads/members.ts';

/** A member of a thread. */
export interface HandledThread {
  thread_id: string;
  agent_id: string;
}

/** The marks of a member after they were moved. A mark that did not move is null. */
export interface MovedHandledMark extends HandledThread {
  canonical_handle: string;
  handled_sequence: number | null;
  read_sequence: number | null;
}

/** Items that were acknowledged, until the marks of their threads have moved. */
export const inboxHandledRepository = repository({
  /**
   * Up to `limit` members with items that were handled at least `min_age_ms` ago. Their marks are locked until the transaction ends.
   * Locks members in the order that other marks use, and their threads against new members, but not against messages. An agent that is
   * no longer a member has no mark; its items are removed with the others.
   * @param agentIds null for all agents.
   */
  lockMembers: sql.rows<
    [agentIds: readonly string[] | null, page: { min_age_ms: number; limit: number }],
    HandledThread
  >(
    'inbox_handled.lock_members(agent_ids, ...)',
    `with handled as materialized (
       select distinct i.agent_id, i.thread_id from inbox_items i
       where i.state = 'handled' and (cast(:agent_ids as text[]) is null or i.agent_id = any(:agent_ids)) and (:min_age_ms::int = 0 or i.updated_at <= ${leaseClock} - :min_age_ms) limit :limit
     ), member as (
       select m.thread_id, m.agent_id from handled h join thread_members m on m.thread_id = h.thread_id and m.agent_id = h.agent_id
       join threads t on t.id = m.thread_id
       order by m.thread_id, m.agent_id for key share of t for no key update of m
     ), locked as (select count(*) from member)
     select h.thread_id, h.agent_id from handled h cross join locked`,
  ),
  /**
   * Moves the handled and read marks of locked members forward. Returns those of which one moved. The mark is before the first message
   * that is not handled, else at the last handled one. Of the items after the mark only the last one is kept, until the mark passes it.
   */
  moveMarks: sql.rows<[members: readonly HandledThread[]], MovedHandledMark>(
    'inbox_handled.move_marks',
    `with thread as materialized (
       select t.thread_id, t.agent_id, coalesce(i.pending - 1, i.last) as mark, i.last
       from unnest(:thread_ids::text[], :agent_ids::text[]) t (thread_id, agent_id) cross join lateral (
         select min(sequence) filter (where state in ('queued', 'ready', 'leased', 'dead')) as pending,
           max(sequence) filter (where state in ('handled', 'recorded')) as last
         from inbox_items where agent_id = t.agent_id and thread_id = t.thread_id
       ) i
     ), removed as (
       delete from inbox_items i using thread t
       where i.agent_id = t.agent_id and i.thread_id = t.thread_id and i.state in ('handled', 'recorded') and (i.sequence <= t.mark or i.sequence < t.last)
     ), kept as (
       update inbox_items i set state = 'recorded' from thread t
       where i.agent_id = t.agent_id and i.thread_id = t.thread_id and i.state = 'handled' and i.sequence > t.mark and i.sequence = t.last
     ), before as (
       select m.thread_id, m.agent_id, m.handled_sequence, m.read_sequence, least(t.mark, h.last_sequence) as mark, a.canonical_handle
       from thread t join thread_members m on m.thread_id = t.thread_id and m.agent_id = t.agent_id
       join threads h on h.id = t.thread_id join agents a on a.id = t.agent_id
       where least(t.mark, h.last_sequence) > least(m.handled_sequence, m.read_sequence)
     ), moved as (
       update thread_members m set handled_sequence = greatest(m.handled_sequence, b.mark), read_sequence = greatest(m.read_sequence, b.mark),
         own_unread_after = greatest(m.read_sequence, b.mark),
         own_unread = case when m.own_unread = 0 or b.mark <= m.read_sequence then ${ownUnread('m')} else greatest(0, ${ownUnread('m')} - (
           select count(*) from messages o where o.thread_id = m.thread_id and o.sender_id = m.agent_id and o.sequence > m.read_sequence and o.sequence <= b.mark)) end
       from before b where m.thread_id = b.thread_id and m.agent_id = b.agent_id
     )
     select b.thread_id, b.agent_id, b.canonical_handle, case when b.mark > b.handled_sequence then b.mark end as handled_sequence,
       case when b.mark > b.read_sequence then b.mark end as read_sequence
     from before b`,
    (members) => ({
      thread_ids: members.map(({ thread_id }) => thread_id),
      agent_ids: members.map(({ agent_id }) => agent_id),
    }),
  ),
  /** The members of these threads, locked until the transaction ends, so that no removed member is notified. `lockMembers` keeps others out. */
  lockRecipients: sql.rows<[threadIds: readonly string[]], HandledThread>(
    'inbox_handled.lock_recipients',
    `select m.thread_id, m.agent_id from thread_members m join agents a on a.id = m.agent_id
     where m.thread_id = any(:thread_ids::text[]) and a.retired_at is null order by m.thread_id, m.agent_id for key share of m`,
  ),
});
