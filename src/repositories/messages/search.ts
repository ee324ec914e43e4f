import { computeNextStep, listPeriods, rowPeriods } from './search-periods.ts';
import { messageColumns, type MessageRow } from './messages.ts';
import {
  unpreparedStatement,
  type Queryable,
  type Statement,
  statement,
  hideFromPlanner,
} from '../queryable.ts';

/** Where a row must be; quick to tell. `thread_id = any($2)` is there for the planner: the membership is what decides. */
const rowFilter = `s.thread_id = any($2) and s.message_id >= $4 and s.message_id < $5
  and s.created_at >= $6 and s.created_at < $7
  and ($8::text is null or s.sender_id = $8)`;

/** For whom a row is. */
const readerFilter = `exists (select from thread_members v where v.thread_id = s.thread_id and v.agent_id = $1)`;

const attachmentFilter = `and exists (select from attachments t where t.message_id = s.message_id)`;

const page = `select ${messageColumns} from page join messages m on m.id = page.message_id join agents a on a.id = m.sender_id
  order by m.id desc`;

const statements = {
  /**
   * Newer rows of the tokenizer's version stay: a worker of an older release may run beside. Words that were read before their message
   * was erased are left out. Each message is looked up by its key (offset 0), however few there are.
   */
  index: statement(
    'message_search.index',
    `insert into message_search (message_id, thread_id, sender_id, document, version, created_at, indexed_at)
     select m.id, m.thread_id, m.sender_id, d.document::tsvector, $3, m.created_at, $4
     from unnest(${hideFromPlanner('$1', 'text[]')}, ${hideFromPlanner('$2', 'text[]')}) d (message_id, document)
     cross join lateral (select * from messages where id = d.message_id offset 0) m
     where m.content <> '' or m.metadata <> '{"erased": true}'
     order by m.id
     on conflict (message_id) do update
       set document = excluded.document, version = excluded.version, indexed_at = excluded.indexed_at
       where message_search.version <= excluded.version`,
  ),
  listContents: statement(
    'message_search.list_contents',
    `select id, content from messages where id = any(${hideFromPlanner('$1', 'text[]')})`,
  ),
  /** Contents only where they are needed: most rows of a walk are up to date. */
  listAfter: statement(
    'message_search.list_after',
    `select m.id, case when $3 or s.version is null or s.version < $2 then m.content end as content
     from messages m left join message_search s on s.message_id = m.id
     where m.id > $1 order by m.id limit $4`,
  ),
  countAfter: statement('message_search.count_after', `select count(*) from messages where id > $1`),
  listThreads: statement(
    'message_search.list_threads',
    `select v.thread_id, t.last_message_at from thread_members v join threads t on t.id = v.thread_id
     where v.agent_id = $1 and t.last_message_at is not null and ($2::text is null or exists (
       select from thread_members w
       where w.thread_id = v.thread_id and w.agent_id <> $1
         and w.agent_id = (select id from agents where id = $2 or canonical_handle = $2)))`,
  ),
  lag: statement(
    'message_search.lag',
    `select count(*) as messages,
       percentile_disc(0.5) within group (order by indexed_at - created_at) as p50_ms,
       percentile_disc(0.95) within group (order by indexed_at - created_at) as p95_ms,
       percentile_disc(0.99) within group (order by indexed_at - created_at) as p99_ms,
       max(indexed_at - created_at) as longest_ms
     from message_search where created_at >= $1`,
  ),
  findSender: statement(
    'message_search.find_sender',
    'select id from agents where id = $1 or canonical_handle = $1',
  ),
};

/** Newest first through the latest messages: finds what is common at once. `offset 0` keeps the quick conditions first. */
function recentStatement(more: string): Statement {
  return unpreparedStatement(
    `with page as materialized (
       select s.message_id from (
         select s.* from message_search s where ${rowFilter} order by s.message_id desc offset 0
       ) s
       where s.document @@ $3::tsquery and ${readerFilter} ${more} order by s.message_id desc limit $9
     ) ${page}`,
  );
}

/** Everything that matches within a range of ids: for what is not common. Of a phrase the index tells who holds its words. */
function rangeStatement(more: string): Statement {
  return unpreparedStatement(
    `with found as materialized (
       select s.message_id from message_search s
       where ${rowFilter} and ($10::text[] is null or ${rowPeriods} && $10)
         and s.document @@ $3::tsquery and ${readerFilter} ${more}
     ), page as (
       select message_id from found order by message_id desc limit $9
     ) ${page}`,
  );
}

/** @param stretch how many of the latest messages are looked through before the index of words is asked. */
export function createSearchStatements(stretch: number) {
  const end = (order: string) =>
    `select message_id from message_search where message_id >= $1 and message_id < $2 order by message_id ${order} limit 1`;
  return {
    /** No row when there is nothing behind that stretch. */
    rangeEnds: unpreparedStatement(
      `select newest, reached, oldest
       from (${end('desc')}) n (newest), (${end(`desc offset ${stretch - 1}`)}) r (reached), (${end('asc')}) o (oldest)
       where oldest < reached`,
    ),
    recent: { plain: recentStatement(''), with_attachment: recentStatement(attachmentFilter) },
    range: { plain: rangeStatement(''), with_attachment: rangeStatement(attachmentFilter) },
  };
}

const defaultStatements = createSearchStatements(4_000);

export interface MessageDocument {
  message_id: string;
  /** The text form of a tsvector. */
  document: string;
}

export interface SearchedThread {
  thread_id: string;
  last_message_at: number;
}

export interface MessageSearch {
  /** The reader's threads to search; others are not searched whatever is named. */
  thread_ids: readonly string[];
  /** The text form of a tsquery. */
  query: string;
  /** Ids from this one on. */
  from_id: string;
  /** Ids below this one. */
  below_id: string;
  /** Milliseconds; `after` is in, `before` is not. */
  after: number;
  before: number;
  /** Id or canonical handle. */
  sender: string | null;
  with_attachment: boolean;
  limit: number;
}

/** Milliseconds from the sending of messages to their search row. Null when there are none. */
export interface IndexLag {
  messages: number;
  p50_ms: number | null;
  p95_ms: number | null;
  p99_ms: number | null;
  longest_ms: number | null;
}

/** The stretch that is looked through, and the oldest message that there is to search. */
interface Ends {
  newest: string;
  reached: string;
  oldest: string;
}

export function messageSearchRepository(db: Queryable, { rangeEnds, recent, range } = defaultStatements) {
  /** By its id the planner knows how much an agent has written. Nobody has the empty one. */
  async function senderId(reference: string | null): Promise<string | null> {
    if (reference === null) return null;
    return (await db.query<{ id: string }>(statements.findSender, [reference]))[0]?.id ?? '';
  }

  return {
    /** Writes search rows, again if they are there and not newer. `now` in milliseconds. */
    async index(documents: readonly MessageDocument[], version: number, now: number): Promise<void> {
      const ids = documents.map(({ message_id }) => message_id);
      const vectors = documents.map(({ document }) => document);
      await db.query(statements.index, [ids, vectors, version, now]);
    },
    listContents(messageIds: readonly string[]): Promise<{ id: string; content: string }[]> {
      return db.query(statements.listContents, [messageIds]);
    },
    /** The next messages in the order of their ids; `content` is null where the search row is of this version, unless `all`. */
    listAfter(
      id: string,
      { version, all, limit }: { version: number; all: boolean; limit: number },
    ): Promise<{ id: string; content: string | null }[]> {
      return db.query(statements.listAfter, [id, version, all, limit]);
    },
    async countAfter(id: string): Promise<number> {
      const [row] = await db.query<{ count: number }>(statements.countAfter, [id]);
      return row?.count ?? 0;
    },
    /** Threads of an agent that have messages; with a counterpart (id or canonical handle) those that it is a member of too. */
    listThreads(agentId: string, counterpart: string | null): Promise<SearchedThread[]> {
      return db.query<SearchedThread>(statements.listThreads, [agentId, counterpart]);
    },
    /**
     * Messages that a reader may read and that match, newest first. What is common is found among the latest. For what is not,
     * the index of words is asked in steps back in time, so that neither has to go through many rows.
     */
    async search(readerId: string, search: MessageSearch): Promise<MessageRow[]> {
      const { thread_ids, query, from_id, below_id, after, before, with_attachment, limit } = search;
      const kind = with_attachment ? 'with_attachment' : 'plain';
      const sender = await senderId(search.sender);
      const values = (from: string, below: string, most: number) =>
        [readerId, thread_ids, query, from, below, after, before, sender, most] as const;

      const [ends] = await db.query<Ends>(rangeEnds, [from_id, below_id]);
      const found = await db.query<MessageRow>(
        recent[kind],
        values(ends?.reached ?? from_id, below_id, limit),
      );
      if (!ends) return found;
      for (let below = ends.reached; below > ends.oldest && found.length < limit;) {
        const step = computeNextStep(ends.newest, below, found.length / limit);
        const from = step > ends.oldest ? step : ends.oldest;
        const rest = [...values(from, below, limit - found.length), listPeriods(from, below)];
        found.push(...(await db.query<MessageRow>(range[kind], rest)));
        below = from;
      }
      return found;
    },
    /** How long messages sent since then (in milliseconds) took to be found. For measurements: reads every row. */
    async lag(since: number): Promise<IndexLag | undefined> {
      return (await db.query<IndexLag>(statements.lag, [since]))[0];
    },
  };
}
