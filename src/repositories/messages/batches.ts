import type { MessageRow } from './messages.ts';
import { type Queryable, statement, hideFromPlanner } from '../queryable.ts';
import { relationOf } from '../agents/relations.ts';
import type { MemberToCheck, OpenThreadRow, ThreadRow } from '../threads/threads.ts';

/** Who would write where. */
export interface Writer {
  thread_id: string;
  agent_id: string;
}

/** A thread that is held, as the next message finds it. */
export interface HeldThread extends Pick<
  ThreadRow,
  'id' | 'status' | 'created_by' | 'last_sequence' | 'last_message_at'
> {
  last_sender_id: string | null;
}

/** Whom a message of a writer reaches, and who may stand between it and them. */
export interface WriterAudience extends Writer, Pick<OpenThreadRow, 'paused' | 'retired'> {
  joined: boolean;
  /** All members that are not retired, the writer among them. */
  member_ids: string[];
  /** The only other member, or those that have blocked the writer. */
  listeners: MemberToCheck[];
}

/** How often two agents have answered each other in a thread since a time, in milliseconds. */
export interface ExchangeRow {
  thread_id: string;
  /** The lesser of the two ids. */
  one_id: string;
  other_id: string;
  exchanges: number;
  since: number;
}

/** The read mark of the first sender, which moves along when nothing unread lies before its messages. */
export interface MovingMark extends Writer {
  after: number;
  upto: number;
}

const statements = {
  /** In the order of ids, and none that somebody else holds: whoever shares a transaction must neither wait nor be waited for. */
  lockThreads: statement(
    'message_batches.hold',
    `select t.id, t.status, t.created_by, t.last_sequence, t.last_message_at, t.last_sender_id
     from threads t join (
       select distinct thread_id from unnest(${hideFromPlanner('$1', 'text[]')}, ${hideFromPlanner('$2', 'text[]')}) w (thread_id, agent_id)
       join thread_members m using (thread_id, agent_id)
     ) w on w.thread_id = t.id
     order by t.id for no key update of t skip locked`,
  ),
  /** The planner must leave the relation where it stands (offset 0): it would look it up for all members of a group and drop it. */
  audience: statement(
    'message_batches.audience',
    `select w.thread_id, w.agent_id, viewer.paused, viewer.retired_at is not null as retired, m.joined, m.member_ids, l.listeners
     from unnest(${hideFromPlanner('$1', 'text[]')}, ${hideFromPlanner('$2', 'text[]')}) w (thread_id, agent_id)
     join agents viewer on viewer.id = w.agent_id
     cross join lateral (
       select count(*) as members, coalesce(bool_or(a.id = viewer.id), false) as joined,
         coalesce(json_agg(a.id) filter (where a.retired_at is null), '[]') as member_ids
       from thread_members t join agents a on a.id = t.agent_id where t.thread_id = w.thread_id
     ) m
     cross join lateral (
       select coalesce(json_agg(json_build_object(
         'id', a.id, 'canonical_handle', a.canonical_handle, 'inbound_policy', a.inbound_policy, 'paused', a.paused,
         'retired', a.retired_at is not null, 'alone', m.members = 2, 'self', false, 'blocked_by_them', b.agent_id is not null,
         'blocked_by_viewer', coalesce(r.blocked_by_viewer, false), 'same_owner', coalesce(r.same_owner, false),
         'same_organization', coalesce(r.same_organization, false), 'contact', coalesce(r.contact, false),
         'allowlisted', coalesce(r.allowlisted, false))), '[]') as listeners
       from thread_members t join agents a on a.id = t.agent_id
       left join blocks b on b.agent_id = a.id and b.blocked_agent_id = viewer.id
       left join lateral (
         select r.* from owners viewer_owner cross join lateral (${relationOf}) r
         where viewer_owner.id = viewer.owner_id and m.members = 2 offset 0
       ) r on true
       where t.thread_id = w.thread_id and t.agent_id <> viewer.id and (m.members = 2 or b.agent_id is not null)
     ) l`,
  ),
  /** Of all pairs that can answer each other here: the writers, and who wrote last. */
  exchanges: statement(
    'message_batches.exchanges',
    `with writer as (select distinct thread_id, agent_id from unnest($1::text[], $2::text[]) w (thread_id, agent_id))
     select distinct x.thread_id, x.one_id, x.other_id, x.exchanges, x.since
     from writer w join threads t on t.id = w.thread_id
     cross join lateral (select t.last_sender_id as id union select o.agent_id from writer o where o.thread_id = w.thread_id) other
     join thread_exchanges x on x.thread_id = w.thread_id and x.one_id = least(w.agent_id, other.id) and x.other_id = greatest(w.agent_id, other.id)
     where other.id <> w.agent_id`,
  ),
  append: statement(
    'message_batches.append',
    `with moved as (
       update threads t set last_sequence = n.last_sequence, last_message_at = n.last_message_at,
         updated_at = greatest(t.updated_at, n.last_message_at), last_sender_id = n.last_sender_id
       from unnest($8::text[], $9::int[], $10::bigint[], $11::text[]) n (id, last_sequence, last_message_at, last_sender_id)
       where t.id = n.id
     ), reader as (
       select m.thread_id, m.agent_id, k.upto
       from unnest($12::text[], $13::text[], $14::int[], $15::int[]) k (thread_id, agent_id, after, upto)
       join thread_members m on m.thread_id = k.thread_id and m.agent_id = k.agent_id
       where m.read_sequence = k.after order by m.thread_id, m.agent_id for no key update of m
     ), mark as (
       update thread_members m set read_sequence = r.upto from reader r where m.thread_id = r.thread_id and m.agent_id = r.agent_id
     ), exchange as (
       insert into thread_exchanges (thread_id, one_id, other_id, exchanges, since)
       select * from unnest($16::text[], $17::text[], $18::text[], $19::int[], $20::bigint[])
       on conflict (thread_id, one_id, other_id) do update set exchanges = excluded.exchanges, since = excluded.since
     )
     insert into messages (id, thread_id, sequence, sender_id, content, content_type, reply_to, metadata, attachment_count, created_at)
     select id, thread_id, sequence, sender_id, content, content_type, null, metadata::jsonb, 0, created_at
     from unnest($1::text[], $2::text[], $3::int[], $4::text[], $5::text[], $6::text[], $7::text[], $21::bigint[])
       m (id, thread_id, sequence, sender_id, content, content_type, metadata, created_at)`,
  ),
};

/** Messages without files that answer none, appended many at once: what each of them needs is asked for all of them together. */
export function messageBatchesRepository(db: Queryable) {
  const columns = (writers: readonly Writer[]) => [
    writers.map(({ thread_id }) => thread_id),
    writers.map(({ agent_id }) => agent_id),
  ];

  return {
    /** Holds the threads until the transaction ends, but those that are held already, and those that no writer is a member of. */
    lockThreads(writers: readonly Writer[]): Promise<HeldThread[]> {
      return db.query<HeldThread>(statements.lockThreads, columns(writers));
    },
    /** May be sent right behind `hold`. */
    listAudiences(writers: readonly Writer[]): Promise<WriterAudience[]> {
      return db.query<WriterAudience>(statements.audience, columns(writers));
    },
    /** May be sent right behind `hold`. */
    listExchanges(writers: readonly Writer[]): Promise<ExchangeRow[]> {
      return db.query<ExchangeRow>(statements.exchanges, columns(writers));
    },
    /** Appends messages to threads that are held. `threads` tell how each of them stands behind its last message. */
    async append(what: {
      messages: readonly MessageRow[];
      threads: readonly HeldThread[];
      marks: readonly MovingMark[];
      exchanges: readonly ExchangeRow[];
    }): Promise<void> {
      const { messages, threads, marks, exchanges } = what;
      await db.query(statements.append, [
        messages.map(({ id }) => id),
        messages.map(({ thread_id }) => thread_id),
        messages.map(({ sequence }) => sequence),
        messages.map(({ sender_id }) => sender_id),
        messages.map(({ content }) => content),
        messages.map(({ content_type }) => content_type),
        messages.map(({ metadata }) => JSON.stringify(metadata)),
        threads.map(({ id }) => id),
        threads.map(({ last_sequence }) => last_sequence),
        threads.map(({ last_message_at }) => last_message_at),
        threads.map(({ last_sender_id }) => last_sender_id),
        marks.map(({ thread_id }) => thread_id),
        marks.map(({ agent_id }) => agent_id),
        marks.map(({ after }) => after),
        marks.map(({ upto }) => upto),
        exchanges.map(({ thread_id }) => thread_id),
        exchanges.map(({ one_id }) => one_id),
        exchanges.map(({ other_id }) => other_id),
        exchanges.map((exchange) => exchange.exchanges),
        exchanges.map(({ since }) => since),
        messages.map(({ created_at }) => created_at),
      ]);
    },
  };
}
