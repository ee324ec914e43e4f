import type { OutgoingPolicy, Relation } from '../../../packages/core/src/domain/agents/agents.ts';
import type { AgentRow } from '../agents/agents.ts';
import { relationOf } from '../agents/relations.ts';
import { type NamedStatement, query, requireTrue, statement } from '../queryable.ts';
import { repository, sql } from '../sql.ts';
import { ownUnread } from '../threads/members.ts';
import type { ThreadRow } from '../threads/threads.ts';
import type { MessageRow } from './messages.ts';

/** A sender and the thread of its message. */
export interface Writer {
  thread_id: string;
  agent_id: string;
}

/** A locked thread. */
export interface LockedThread extends Pick<
  ThreadRow,
  'id' | 'status' | 'created_by' | 'last_sequence' | 'last_message_at' | 'updated_at'
> {
  last_sender_id: string | null;
  /** Whether a task of it may be open. */
  has_questions: boolean;
}

/** A member whose policy or block decides about a message: the only other member, or one that has blocked the writer. */
export interface MemberToCheck
  extends Pick<AgentRow, 'id' | 'canonical_handle' | 'inbound_policy' | 'paused'>, Relation {
  retired: boolean;
  /** Whether it and the writer are the only members. Only then the whole relation is read; blocks by it always are. */
  alone: boolean;
}

/** Recipients of a message, and the members whose policy must be checked. */
export interface WriterAudience extends Writer {
  /** Of the writer. */
  paused: boolean;
  retired: boolean;
  /** Whether the writer is a member. */
  joined: boolean;
  /** Of the writer. */
  outgoing_policy: OutgoingPolicy;
  /** All members that are not retired, with the writer. */
  member_ids: string[];
  /** Of each of these members, in the same order: rises with each change of what decides whether a message is accepted. */
  relation_versions: number[];
  listeners: MemberToCheck[];
}

/** How often two agents have answered each other in a thread since a time (ms). */
export interface ExchangeRow {
  thread_id: string;
  /** The lesser of the two ids. */
  one_id: string;
  other_id: string;
  exchanges: number;
  since: number;
}

/** How the messages of a batch affect their sender's read mark. It moves when no message of others is unread before them. */
export interface SenderMark extends Writer {
  /** The sequence before its first message. */
  after: number;
  /** The last of its consecutive messages from there on. */
  upto: number;
  /** All messages that it sends in the batch. */
  own: number;
}

/**
 * Locks in the order of ids. A batch skips threads that another transaction has locked: it neither waits nor makes others wait. Only
 * members ever wait.
 */
function lockThreads({ wait }: { wait: boolean }): NamedStatement {
  return statement(
    wait ? 'message_batches.lock_threads' : 'message_batches.lock_unlocked_threads',
    `select t.id, t.status, t.created_by, t.last_sequence, t.last_message_at, t.updated_at, t.last_sender_id, t.has_questions
     from threads t join (
       select distinct thread_id from unnest(:thread_ids::text[], :agent_ids::text[]) w (thread_id, agent_id)
       join thread_members m using (thread_id, agent_id)
     ) w on w.thread_id = t.id
     order by t.id for no key update of t${wait ? '' : ' skip locked'}`,
  );
}

const statements = {
  lockThreads: { wait: lockThreads({ wait: true }), skip: lockThreads({ wait: false }) },
};

/** A message that is replied to. */
type ReplyTarget = Record<'thread_id' | 'id', string>;

const toColumns = (targets: readonly ReplyTarget[]) => ({
  thread_ids: targets.map(({ thread_id }) => thread_id),
  ids: targets.map(({ id }) => id),
});

/** What shows whether a thread has changed. */
type ThreadState = Pick<LockedThread, 'id' | 'last_sequence' | 'updated_at'>;

const toStateColumns = (threads: readonly ThreadState[]) => ({
  thread_ids: threads.map(({ id }) => id),
  last_sequences: threads.map(({ last_sequence }) => last_sequence),
  update_times: threads.map(({ updated_at }) => updated_at),
});

const toWriterColumns = (writers: readonly Writer[]) => ({
  thread_ids: writers.map(({ thread_id }) => thread_id),
  agent_ids: writers.map(({ agent_id }) => agent_id),
});

/** Appends messages of a batch. What they need is read for all of them together. */
export const messageBatchesRepository = repository(
  {
    /**
     * Locks threads until the transaction ends. Fails it with ConcurrentChange unless all are unlocked, active and as they were. As
     * `lockThreads`, without a result. The caller knows that the writers are members.
     */
    lockUnchanged: sql.run<[threads: readonly ThreadState[]]>(
      'message_batches.lock_unchanged',
      `select ${requireTrue(`count(*) = cardinality(:thread_ids::text[])`)} as are_unchanged from (
         select from unnest(:thread_ids::text[], :last_sequences::int[], :update_times::bigint[]) k (thread_id, last_sequence, updated_at)
         join threads t on t.id = k.thread_id and t.last_sequence = k.last_sequence and t.updated_at = k.updated_at and t.status = 'active'
         order by t.id for no key update of t skip locked
       ) locked`,
      toStateColumns,
    ),
    /** Fails the transaction with ConcurrentChange unless all these messages exist in their threads. */
    requireReplyTargets: sql.run<[targets: readonly ReplyTarget[]]>(
      'message_batches.require_reply_targets',
      `select ${requireTrue(`count(*) = cardinality(:ids::text[])`)} as all_exist
       from unnest(:thread_ids::text[], :ids::text[]) r (thread_id, id)
       join messages m on m.id = r.id and m.thread_id = r.thread_id`,
      toColumns,
    ),
    /**
     * May be sent in one round trip with `lockThreads`, after it. None for agents that do not exist. `offset 0` stops the planner from
     * evaluating the relation for all members of a group, where it is not used.
     */
    listAudiences: sql.rows<[writers: readonly Writer[]], WriterAudience>(
      'message_batches.audience',
      `select w.thread_id, w.agent_id, viewer.paused, viewer.retired_at is not null as retired, viewer.outgoing_policy, m.joined, m.member_ids, m.relation_versions, m.listeners
       from unnest(:thread_ids::text[], :agent_ids::text[]) w (thread_id, agent_id)
       join agents viewer on viewer.id = w.agent_id
       cross join lateral (
         select coalesce(bool_or(a.id = viewer.id), false) as joined,
           coalesce(json_agg(a.id) filter (where a.retired_at is null), '[]') as member_ids,
           coalesce(json_agg(a.relation_version) filter (where a.retired_at is null), '[]') as relation_versions,
           coalesce(json_agg(json_build_object(
             'id', a.id, 'canonical_handle', a.canonical_handle, 'inbound_policy', a.inbound_policy, 'paused', a.paused,
             'retired', a.retired_at is not null, 'alone', a.members = 2, 'self', false, 'blocked_by_them', a.blocks_viewer,
             'blocked_by_viewer', coalesce(r.blocked_by_viewer, false), 'same_owner', coalesce(r.same_owner, false),
             'same_organization', coalesce(r.same_organization, false), 'contact', coalesce(r.contact, false),
             'allowlisted', coalesce(r.allowlisted, false))) filter (where a.id <> viewer.id and (a.members = 2 or a.blocks_viewer)), '[]') as listeners
         from (
           select a.id, a.canonical_handle, a.owner_id, a.inbound_policy, a.paused, a.retired_at,
             coalesce(h.relation_version, 0) as relation_version, count(*) over () as members,
             exists (select from blocks b where b.agent_id = a.id and b.blocked_agent_id = viewer.id) as blocks_viewer
           from thread_members t join agents a on a.id = t.agent_id left join feed_heads h on h.agent_id = a.id where t.thread_id = w.thread_id
         ) a
         left join lateral (
           select r.* from owners viewer_owner cross join lateral (${relationOf}) r
           where viewer_owner.id = viewer.owner_id and a.members = 2 and a.id <> viewer.id offset 0
         ) r on true
       ) m`,
      toWriterColumns,
    ),
    /**
     * May be sent in one round trip with `lockThreads`, after it. A row can occur twice. Of all pairs that can answer each other in this
     * batch: the writers and the last senders. `offset 0` makes the planner look up each pair by its whole key. With other statistics it
     * reads all pairs of a thread for each writer: 19,900 in a thread of 200.
     */
    listExchanges: sql.rows<[writers: readonly Writer[]], ExchangeRow>(
      'message_batches.exchanges',
      `select x.thread_id, x.one_id, x.other_id, x.exchanges, x.since
       from unnest(:thread_ids::text[], :agent_ids::text[], :later_writer_ids::text[]) w (thread_id, agent_id, later_writer_ids)
       join threads t on t.id = w.thread_id
       cross join lateral unnest(string_to_array(w.later_writer_ids, ',') || t.last_sender_id) other (id)
       cross join lateral (
         select * from thread_exchanges x
         where x.thread_id = w.thread_id and x.one_id = least(w.agent_id, other.id) and x.other_id = greatest(w.agent_id, other.id) offset 0
       ) x
       where other.id <> w.agent_id`,
      (writers) => ({
        ...toWriterColumns(writers),
        later_writer_ids: listLaterWriters(writers),
      }),
    ),
    /** Those of these messages that exist in their threads. */
    listReplyTargets: sql.rows<[targets: readonly ReplyTarget[]], ReplyTarget>(
      'message_batches.reply_targets',
      `select m.thread_id, m.id
       from unnest(:thread_ids::text[], :ids::text[]) r (thread_id, id)
       join messages m on m.id = r.id and m.thread_id = r.thread_id`,
      toColumns,
    ),
    /**
     * Appends messages to locked threads. `threads` are the new values of those. Several members are locked in one order first; the lock of
     * one is its update.
     */
    append: sql.run<
      [
        input: {
          messages: readonly MessageRow[];
          threads: readonly LockedThread[];
          marks: readonly SenderMark[];
          exchanges: readonly ExchangeRow[];
        },
      ]
    >(
      'message_batches.append',
      `with moved as (
         update threads t set last_sequence = n.last_sequence, last_message_at = n.last_message_at,
           updated_at = greatest(t.updated_at, n.last_message_at), last_sender_id = n.last_sender_id
         from unnest(:moved_ids::text[], :last_sequences::int[], :last_times::bigint[], :last_sender_ids::text[]) n (id, last_sequence, last_message_at, last_sender_id)
         where t.id = n.id
       ), locked as (
         select from unnest(:mark_thread_ids::text[], :mark_agent_ids::text[]) k (thread_id, agent_id)
         join thread_members m on m.thread_id = k.thread_id and m.agent_id = k.agent_id
         where cardinality(:mark_thread_ids::text[]) > 1
         order by m.thread_id, m.agent_id for no key update of m
       ), mark as (
         update thread_members m set
           read_sequence = case when m.read_sequence + ${ownUnread('m')} = k.after then k.upto else m.read_sequence end,
           own_unread_after = case when m.read_sequence + ${ownUnread('m')} = k.after then k.upto else m.read_sequence end,
           own_unread = case when m.read_sequence + ${ownUnread('m')} = k.after then k.own - (k.upto - k.after) else ${ownUnread('m')} + k.own end
         from unnest(:mark_thread_ids::text[], :mark_agent_ids::text[], :after::int[], :upto::int[], :own::int[]) k (thread_id, agent_id, after, upto, own)
         where (select count(*) from locked) >= 0 and m.thread_id = k.thread_id and m.agent_id = k.agent_id
       ), exchange as (
         insert into thread_exchanges (thread_id, one_id, other_id, exchanges, since)
         select * from unnest(:pair_thread_ids::text[], :one_ids::text[], :other_ids::text[], :exchanges::int[], :since::bigint[])
         on conflict (thread_id, one_id, other_id) do update set exchanges = excluded.exchanges, since = excluded.since
       )
       insert into messages (id, thread_id, sequence, sender_id, content, content_type, reply_to, metadata, attachment_count, created_at, written_by)
       select id, thread_id, sequence, sender_id, content, content_type, reply_to, metadata::jsonb, attachment_count, created_at, nullif(written_by, 'agent')
       from unnest(:ids::text[], :thread_ids::text[], :sequences::int[], :sender_ids::text[], :contents::text[], :content_types::text[], :metadata::text[], :created_at::bigint[], :reply_to::text[], :attachment_counts::int[], :written_by::text[])
         m (id, thread_id, sequence, sender_id, content, content_type, metadata, created_at, reply_to, attachment_count, written_by)`,
      (input) => {
        const { messages, threads, marks, exchanges } = input;
        return {
          ids: messages.map(({ id }) => id),
          thread_ids: messages.map(({ thread_id }) => thread_id),
          sequences: messages.map(({ sequence }) => sequence),
          sender_ids: messages.map(({ sender_id }) => sender_id),
          contents: messages.map(({ content }) => content),
          content_types: messages.map(({ content_type }) => content_type),
          metadata: messages.map(({ metadata }) => JSON.stringify(metadata)),
          moved_ids: threads.map(({ id }) => id),
          last_sequences: threads.map(({ last_sequence }) => last_sequence),
          last_times: threads.map(({ last_message_at }) => last_message_at),
          last_sender_ids: threads.map(({ last_sender_id }) => last_sender_id),
          mark_thread_ids: marks.map(({ thread_id }) => thread_id),
          mark_agent_ids: marks.map(({ agent_id }) => agent_id),
          after: marks.map(({ after }) => after),
          upto: marks.map(({ upto }) => upto),
          own: marks.map(({ own }) => own),
          pair_thread_ids: exchanges.map(({ thread_id }) => thread_id),
          one_ids: exchanges.map(({ one_id }) => one_id),
          other_ids: exchanges.map(({ other_id }) => other_id),
          exchanges: exchanges.map((exchange) => exchange.exchanges),
          since: exchanges.map(({ since }) => since),
          created_at: messages.map(({ created_at }) => created_at),
          reply_to: messages.map(({ reply_to }) => reply_to),
          written_by: messages.map(({ written_by }) => written_by),
          attachment_counts: messages.map(({ attachments }) => attachments.length),
        };
      },
    ),
  },
  (db) => ({
    /**
     * Locks the threads that a writer is a member of, until the transaction ends.
     * @param options.wait whether to wait for threads that another transaction has locked; otherwise they are left out.
     */
    lockThreads(writers: readonly Writer[], { wait }: { wait: boolean }): Promise<LockedThread[]> {
      return query<LockedThread>(
        db,
        statements.lockThreads[wait ? 'wait' : 'skip'],
        toWriterColumns(writers),
      );
    },
  }),
);

/** For each writer, the ids of the writers of its thread that come after it, separated by commas: each pair once. */
function listLaterWriters(writers: readonly Writer[]): string[] {
  const later = new Map<string, string[]>();
  const lists = writers.toReversed().map(({ thread_id, agent_id }) => {
    const ids = later.get(thread_id) ?? [];
    const list = ids.join();
    later.set(thread_id, [...ids, agent_id]);
    return list;
  });
  return lists.toReversed();
}
