import { isOnline } from '../agents/presence.ts';
import { query, type Queryable, statement } from '../queryable.ts';
import { agentsOfReader, type ConversationReader, threadsOfMine } from './conversations.ts';

/** A member of a thread that has not answered its last message. */
export interface WaitRow {
  thread_id: string;
  subject: string | null;
  /** When the last message was sent, in milliseconds. */
  since: number;
  /** The sender of the last message. */
  sender_id: string;
  sender_handle: string;
  member_id: string;
  member_handle: string;
  /** Whether the member is one of the reader's agents. */
  is_own: boolean;
  /** Whether the last message was delivered to the member. */
  received: boolean;
  is_online: boolean;
  paused: boolean;
  /** Whether the message asks for a person, or the member is one of the reader's agents and has a pending approval. */
  needs_person: boolean;
}

/** In groups most members need not answer. */
const maxMembers = 9;

/**
 * Longest wait first. Reads the row of every thread of the reader, and members and last message of those that wait. A message that expects no
 * reply causes no wait.
 */
function listStatement(name: string, mine: string) {
  return statement(
    name,
    `with mine as materialized (select a.id from ${mine}
     ), found as materialized (${threadsOfMine}
     ), waiting as materialized (
       select t.id, t.subject, t.last_sequence, t.last_sender_id, t.last_message_at
       from found f
       cross join lateral (select * from threads where id = f.thread_id limit 1) t
       where t.status = 'active' and t.last_sender_id is not null and t.last_message_at >= :since
       order by t.last_message_at, t.id limit :limit
     )
     select t.id as thread_id, t.subject, t.last_message_at as since, s.id as sender_id, s.canonical_handle as sender_handle,
       a.id as member_id, a.canonical_handle as member_handle, a.id in (select id from mine) as is_own, a.paused,
       greatest(m.delivered_sequence, m.read_sequence) >= t.last_sequence as received, ${isOnline},
       l.metadata @> '{"asks_person": true}' or a.id in (select id from mine) and exists (
         select from approvals q where q.agent_id = a.id and q.state = 'pending' and q.expires_at > :now) as needs_person
     from waiting t
     join agents s on s.id = t.last_sender_id and s.retired_at is null
     cross join lateral (
       select metadata from messages where thread_id = t.id and sequence = t.last_sequence limit 1) l
     cross join lateral (
       select * from thread_members where thread_id = t.id and agent_id <> t.last_sender_id limit ${maxMembers} offset 0) m
     join agents a on a.id = m.agent_id and a.retired_at is null
     where not l.metadata @> '{"no_reply_expected": true}'
     order by t.last_message_at, t.id, a.canonical_handle`,
  );
}

const statements = {
  person: listStatement('waits.list_of_person', agentsOfReader.person),
  agent: listStatement('waits.list_for_agent', agentsOfReader.agent),
};

/** Missing answers, in the threads of all agents that the same people may act as. */
export function waitsRepository(db: Queryable) {
  return {
    /** Of at most `limit` threads with a last message since a time (ms), those that wait the longest first. */
    list(
      reader: ConversationReader,
      { since, now, limit }: { since: number; now: number; limit: number },
    ): Promise<WaitRow[]> {
      const values = { since, now, limit };
      return 'account_id' in reader
        ? query<WaitRow>(db, statements.person, { reader_id: reader.account_id, ...values })
        : query<WaitRow>(db, statements.agent, { reader_id: reader.agent_id, ...values });
    },
  };
}
