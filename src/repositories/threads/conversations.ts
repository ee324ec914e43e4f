import type { OpenTaskState } from '../../../packages/core/src/domain/tasks.ts';
import type {
  ConversationMark,
  ConversationWait,
  ThreadStatus,
} from '../../../packages/core/src/domain/threads.ts';
import { actedAsByPeopleOfMe, actedAsByPerson } from '../agents/rights.ts';
import { type ContentType, previewOf } from '../messages/messages.ts';
import { query, type Queryable, statement } from '../queryable.ts';
import { repository, sql } from '../sql.ts';
import { questionsOfMine } from '../tasks/questions.ts';
import { type ThreadMember, unreadCount, type Watch, watchedBy } from './threads.ts';

/** The people whose conversations are read: one account, or everyone who may act as an agent. */
export type ConversationReader = { account_id: string } | { agent_id: string };

/** One of the reader's agents, as a member of a thread. */
export interface ReadingAgent extends ThreadMember {
  display_name: string;
  unread_count: number;
}

/** The beginning of the latest message of a thread. */
export interface LastMessage {
  id: string;
  sequence: number;
  sender_id: string;
  sender_handle: string;
  /** At most 300 characters. */
  preview: string;
  content_type: ContentType;
  created_at: number;
}

/** A thread of at least one of the reader's agents. */
export interface ConversationRow {
  id: string;
  subject: string | null;
  status: ThreadStatus;
  last_sequence: number;
  last_message_at: number | null;
  last_sender_id: string | null;
  created_at: number;
  updated_at: number;
  members: ThreadMember[];
  /** By handle. */
  agents: ReadingAgent[];
  /** Null before the first message, and when the messages were removed. */
  last_message: LastMessage | null;
  /** Side that has to answer an open question of the thread: one of the reader's agents, or another member. */
  waiting: ConversationWait | null;
  /** Its open watch links. */
  watched_by: Watch[];
  /** The open task of one of the reader's agents that needs attention first: overdue ones, then the oldest. */
  open_task: { state: OpenTaskState; overdue: boolean } | null;
  /** Whether the person who reads has nothing more to do in it until a later message. False for an agent. */
  done: boolean;
  /** Whether the person who reads does not want to be told of its messages. False for an agent. */
  muted: boolean;
}

export interface ListedConversation extends ConversationRow {
  /** The time by which it is sorted, in milliseconds. */
  activity: number;
}

export interface ConversationFilter {
  /** Id or canonical handle of one of the reader's agents. */
  agent: string | null;
  /** Id or canonical handle of another member. */
  counterpart: string | null;
  /** Null: all that are not archived. */
  status: ThreadStatus | null;
  waiting: ConversationWait | null;
  /** Those of a person are found by the person's marks; `open`: not done. Null: all. */
  mark: ConversationMark | null;
  unread: boolean;
  /** The last row of the previous page; null: the first page. */
  activity: number | null;
  id: string | null;
  limit: number;
}

/** What a search of a reader covers. */
export interface SearchedConversations {
  agent_ids: string[];
  thread_ids: string[];
  last_message_at: number;
  /** At least the number of messages in these threads. */
  messages: number;
}

export const maxPreviewCharacters = 300;

/** Needs the thread `t`, the reader's agents `mine`, and their questions `question`. */
const waitingOf = `case when t.status <> 'active' then null
  when exists (select from question q where q.thread_id = t.id and q.asked_id in (select id from mine)) then 'me'
  when exists (select from question q where q.thread_id = t.id) then 'others' end`;

/** Of the thread `t` and the reader's marks `k`. */
const isDone = 'coalesce(k.done_sequence >= t.last_sequence, false)';
export const isMuted = 'coalesce(k.muted, false)';

/** Needs the thread `t`, the reader's agents `mine`, their questions `question`, and the reader's marks `k`. */
const columns = `t.id, t.subject, t.status, t.last_sequence, t.last_message_at, t.last_sender_id, t.created_at, t.updated_at, ${watchedBy},
  (select jsonb_agg(jsonb_build_object('id', a.id, 'canonical_handle', a.canonical_handle) order by m.joined_at, a.canonical_handle)
   from thread_members m join agents a on a.id = m.agent_id where m.thread_id = t.id) as members,
  (select jsonb_agg(jsonb_build_object('id', n.id, 'canonical_handle', n.canonical_handle, 'display_name', n.display_name,
     'unread_count', ${unreadCount}) order by n.canonical_handle)
   from thread_members v join mine n on n.id = v.agent_id where v.thread_id = t.id) as agents,
  (select jsonb_build_object('id', m.id, 'sequence', m.sequence, 'sender_id', m.sender_id, 'sender_handle', s.canonical_handle,
     'preview', ${previewOf(maxPreviewCharacters)}, 'content_type', m.content_type,
     'created_at', m.created_at)
   from messages m join agents s on s.id = m.sender_id
   where m.thread_id = t.id and m.sequence = t.last_sequence limit 1) as last_message,
  ${waitingOf} as waiting, ${isDone} as done, ${isMuted} as muted,
  (select jsonb_build_object('state', q.state, 'overdue', q.overdue) from question q
   where q.thread_id = t.id and q.task_id is not null order by q.overdue desc, q.since limit 1) as open_task`;

/** The threads of `mine`. The lateral join reads members by index: the planner does not know how few threads an agent has. */
const threadsOfMine = `select distinct v.thread_id
  from mine cross join lateral (select thread_id from thread_members where agent_id = mine.id offset 0) v`;

/** The agents `a` of the reader, as the end of a query. */
const agentsOfReader = {
  person: `agents a where ${actedAsByPerson(':reader_id')}`,
  agent: `agents me cross join agents a where me.id = :reader_id and me.retired_at is null and ${actedAsByPeopleOfMe}`,
};

/** The marks `k` of a person on the thread `t`, which are looked up by key one by one. An agent has none. */
const marksOfReader = {
  person: `left join lateral (
    select done_sequence, muted from thread_marks where account_id = :reader_id and thread_id = t.id limit 1) k on true`,
  agent: 'cross join (select null::integer as done_sequence, false as muted) k',
};

/** What the rows of a statement are read as. */
type Read<Row, Result> = (rows: Row[]) => Result;

/** A method of a repository for a reader. */
type ReaderMethod<Values, Result> = (
  db: Queryable,
) => (reader: ConversationReader, values: Values) => Promise<Result>;

/**
 * Defines a method for a reader, with a statement for people and one for agents.
 * @param text the SQL for the reader's agents, and for the reader's marks on a thread `t`
 */
export function forReader<Values extends object, Row extends object, Result>(
  name: string,
  text: (mine: string, marks: string) => string,
  read: Read<Row, Result>,
): ReaderMethod<Values, Result> {
  const ofPerson = statement(`${name}_of_person`, text(agentsOfReader.person, marksOfReader.person));
  const forAgent = statement(`${name}_for_agent`, text(agentsOfReader.agent, marksOfReader.agent));
  return (db) => async (reader, values) =>
    read(
      await ('account_id' in reader
        ? query<Row>(db, ofPerson, { reader_id: reader.account_id, ...values })
        : query<Row>(db, forAgent, { reader_id: reader.agent_id, ...values })),
    );
}

/** Returns the row of a statement that always has one. */
export function onlyRow<Row>([row]: readonly Row[]): Row {
  if (!row) throw new Error('an aggregate is always one row');
  return row;
}

/** The threads of all agents that the same people may act as. Rights are read with each call. */
export const conversationsRepository = repository({
  /** The ids of the agents that the people of an agent may act as, at most `limit`. */
  listAgents: sql.values<[readerId: string, limit: number], string>(
    'conversations.list_agents(reader_id, limit)',
    `select a.id from ${agentsOfReader.agent} order by a.id limit :limit`,
  ),
  /**
   * Newest activity first. Reads the row of every thread of the reader, and the members and last message of only those on the page. No index
   * has the activity, because it changes with every message. Unread counts and marks are read in the order of the list, until the page is full.
   */
  list: forReader<ConversationFilter, ListedConversation, ListedConversation[]>(
    'conversations.list',
    (mine, marks) => `with mine as materialized (
       select a.id, a.canonical_handle, a.display_name from ${mine} and (:agent::text is null or a.id = :agent or a.canonical_handle = :agent)
     ), question as materialized (${questionsOfMine}
     ), found as materialized (${threadsOfMine}
     ), page as materialized (
       select t.id, t.activity from (
         select t.id, o.activity, t.last_sequence
         from found f
         cross join lateral (select * from threads where id = f.thread_id limit 1) t
         cross join lateral (select coalesce(t.last_message_at, t.created_at) as activity) o
         where (t.status = :status or (:status::text is null and t.status <> 'archived'))
           and (:counterpart::text is null or exists (
             select from thread_members w join agents a on a.id = w.agent_id
             where w.thread_id = t.id and (a.canonical_handle = :counterpart or a.id = :counterpart) and a.id not in (select id from mine)))
           and (:waiting::text is null or ${waitingOf} = :waiting)
           and (:activity::bigint is null or (o.activity, t.id) < (:activity, :id))
         order by o.activity desc, t.id desc offset 0
       ) t ${marks}
       where (:mark::text is null or case :mark when 'open' then not ${isDone} when 'done' then ${isDone} else ${isMuted} end)
         and (not :unread::boolean or (:mark = 'muted' or not ${isMuted}) and exists (
           select from thread_members v where v.thread_id = t.id and v.agent_id in (select id from mine)
             and v.read_sequence < t.last_sequence and ${unreadCount} > 0))
       order by t.activity desc, t.id desc limit :limit
     )
     select ${columns}, p.activity from page p cross join lateral (select * from threads where id = p.id limit 1) t ${marks}
     order by p.activity desc, p.id desc`,
    (rows) => rows,
  ),
  /** The reader's agents, their threads with messages, and the time (ms) of the latest message. */
  listSearched: forReader<
    Pick<ConversationFilter, 'agent' | 'counterpart'>,
    SearchedConversations,
    SearchedConversations
  >(
    'conversations.list_searched',
    (mine) => `with mine as materialized (
       select a.id from ${mine} and (:agent::text is null or a.id = :agent or a.canonical_handle = :agent)
     ), found as materialized (${threadsOfMine})
     select coalesce((select json_agg(id) from mine), '[]') as agent_ids, coalesce(json_agg(t.id), '[]') as thread_ids,
       coalesce(max(t.last_message_at), 0) as last_message_at, coalesce(sum(t.last_sequence), 0) as messages
     from found f cross join lateral (select * from threads where id = f.thread_id limit 1) t
     where t.last_message_at is not null and (:counterpart::text is null or exists (
       select from thread_members w join agents a on a.id = w.agent_id
       where w.thread_id = t.id and (a.canonical_handle = :counterpart or a.id = :counterpart) and a.id not in (select id from mine)))`,
    onlyRow,
  ),
  /** The thread, if one of the reader's agents is a member. */
  find: forReader<{ thread_id: string }, ConversationRow, ConversationRow | undefined>(
    'conversations.find',
    (mine, marks) => `with mine as materialized (
       select a.id, a.canonical_handle, a.display_name from ${mine}
         and a.id in (select m.agent_id from thread_members m where m.thread_id = :thread_id)
     ), question as materialized (${questionsOfMine})
     select ${columns} from threads t ${marks} where t.id = :thread_id and exists (select from mine)`,
    ([row]) => row,
  ),
});
