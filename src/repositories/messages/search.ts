import { computeNextStep, listPeriods, rowPeriods } from './search-periods.ts';
import { messageColumns, type MessageRow } from './messages.ts';
import {
  hideFromPlanner,
  type NamedStatement,
  query,
  type Queryable,
  statement,
  unpreparedStatement,
} from '../queryable.ts';

/** The cheap conditions. `thread_id = any(:thread_ids)` is only for the planner: `readerFilter` decides. */
const rowFilter = `s.thread_id = any(:thread_ids) and s.message_id >= :from_id and s.message_id < :below_id
  and s.created_at >= :after and s.created_at < :before
  and (:sender::text is null or s.sender_id = :sender)`;

/** Only members of a thread can read its messages, and the people of these members. */
const readerFilter = `exists (select from thread_members v where v.thread_id = s.thread_id and v.agent_id = any(:reader_ids))`;

const attachmentFilter = `and exists (select from attachments t where t.message_id = s.message_id)`;

const page = `select ${messageColumns} from page join messages m on m.id = page.message_id join agents a on a.id = m.sender_id
  order by m.id desc`;

const statements = {
  /**
   * Keeps rows of a newer tokenizer version: a worker of an older release may run at the same time. Skips messages that were erased
   * after their content was read. `offset 0` makes the planner look up each message by key.
   */
  index: statement(
    'message_search.index',
    `insert into message_search (message_id, thread_id, sender_id, document, version, created_at, indexed_at)
     select m.id, m.thread_id, m.sender_id, d.document::tsvector, :version, m.created_at, :now
     from unnest(${hideFromPlanner(':message_ids', 'text[]')}, ${hideFromPlanner(':documents', 'text[]')}) d (message_id, document)
     cross join lateral (select * from messages where id = d.message_id offset 0) m
     where m.content <> '' or m.metadata <> '{"erased": true}'
     order by m.id
     on conflict (message_id) do update
       set document = excluded.document, version = excluded.version, indexed_at = excluded.indexed_at
       where message_search.version <= excluded.version`,
  ),
  listContents: statement(
    'message_search.list_contents',
    `select id, content from messages where id = any(${hideFromPlanner(':message_ids', 'text[]')})`,
  ),
  /** Reads content only where it is needed: most rows are up to date. */
  listAfter: statement(
    'message_search.list_after',
    `select m.id, case when :all or s.version is null or s.version < :version then m.content end as content
     from messages m left join message_search s on s.message_id = m.id and s.thread_id = m.thread_id
     where m.id > :after order by m.id limit :limit`,
  ),
  countAfter: statement('message_search.count_after', `select count(*) from messages where id > :after`),
  listThreads: statement(
    'message_search.list_threads',
    `select v.thread_id, t.last_message_at from thread_members v join threads t on t.id = v.thread_id
     where v.agent_id = :agent_id and t.last_message_at is not null and (:counterpart::text is null or exists (
       select from thread_members w
       where w.thread_id = v.thread_id and w.agent_id <> :agent_id
         and w.agent_id = (select id from agents where id = :counterpart or canonical_handle = :counterpart)))`,
  ),
  lag: statement(
    'message_search.lag',
    `select count(*) as messages,
       percentile_disc(0.5) within group (order by indexed_at - created_at) as p50_ms,
       percentile_disc(0.95) within group (order by indexed_at - created_at) as p95_ms,
       percentile_disc(0.99) within group (order by indexed_at - created_at) as p99_ms,
       max(indexed_at - created_at) as longest_ms
     from message_search where created_at >= :since`,
  ),
  findSender: statement(
    'message_search.find_sender',
    'select id from agents where id = :reference or canonical_handle = :reference',
  ),
};

/** Scans the latest messages, newest first: fast for common words. `offset 0` keeps the cheap conditions first. */
function recentStatement(filter: string): NamedStatement {
  return unpreparedStatement(
    `with page as materialized (
       select s.message_id from (
         select s.* from message_search s where ${rowFilter} order by s.message_id desc offset 0
       ) s
       where s.document @@ :query::tsquery and ${readerFilter} ${filter} order by s.message_id desc limit :limit
     ) ${page}`,
  );
}

/** Finds all matches in a range of ids by the word index: for rare words. For a phrase the index finds the rows with all its words. */
function rangeStatement(filter: string): NamedStatement {
  return unpreparedStatement(
    `with found as materialized (
       select s.message_id from message_search s
       where ${rowFilter} and (:periods::text[] is null or ${rowPeriods} && :periods)
         and s.document @@ :query::tsquery and ${readerFilter} ${filter}
     ), page as (
       select message_id from found order by message_id desc limit :limit
     ) ${page}`,
  );
}

/** @param scannedRows how many of the latest messages are scanned before the word index is used. */
export function createSearchStatements(scannedRows: number) {
  const edge = (order: string) =>
    `select message_id from message_search where message_id >= :from_id and message_id < :below_id order by message_id ${order} limit 1`;
  return {
    /** No row when there is no message before the scanned ones. */
    scannedRange: unpreparedStatement(
      `select newest, reached, oldest
       from (${edge('desc')}) n (newest), (${edge(`desc offset ${scannedRows - 1}`)}) r (reached), (${edge('asc')}) o (oldest)
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
  /** The threads to search. Threads that the reader is not a member of are skipped. */
  thread_ids: readonly string[];
  /** The text form of a tsquery. */
  query: string;
  /** Ids from this one on. */
  from_id: string;
  /** Ids below this one. */
  below_id: string;
  /** In milliseconds; `after` is inclusive, `before` is exclusive. */
  after: number;
  before: number;
  /** Id or canonical handle. */
  sender: string | null;
  with_attachment: boolean;
  limit: number;
}

/** Milliseconds from a message to its search row. Null when there are no messages. */
export interface IndexLag {
  messages: number;
  p50_ms: number | null;
  p95_ms: number | null;
  p99_ms: number | null;
  longest_ms: number | null;
}

/** Ids of messages: the scan of the latest messages goes from `newest` back to `reached`. */
interface ScannedRange {
  newest: string;
  reached: string;
  oldest: string;
}

export function messageSearchRepository(db: Queryable, searchStatements = defaultStatements) {
  /** With an id the planner can estimate the number of messages. The empty id matches no agent. */
  async function senderId(reference: string | null): Promise<string | null> {
    if (reference === null) return null;
    return (await query<{ id: string }>(db, statements.findSender, { reference }))[0]?.id ?? '';
  }

  return {
    /** Writes search rows; replaces those that are not of a newer version. `now` is in milliseconds. */
    async index(documents: readonly MessageDocument[], version: number, now: number): Promise<void> {
      await query(db, statements.index, {
        message_ids: documents.map(({ message_id }) => message_id),
        documents: documents.map(({ document }) => document),
        version,
        now,
      });
    },
    /** Id and content of these messages, in no order. */
    listContents(messageIds: readonly string[]): Promise<{ id: string; content: string }[]> {
      return query(db, statements.listContents, { message_ids: messageIds });
    },
    /** The next messages by id. `content` is null where the search row has this version, unless `all` is set. */
    listAfter(
      after: string,
      { version, all, limit }: { version: number; all: boolean; limit: number },
    ): Promise<{ id: string; content: string | null }[]> {
      return query(db, statements.listAfter, { after, version, all, limit });
    },
    async countAfter(after: string): Promise<number> {
      const [row] = await query<{ count: number }>(db, statements.countAfter, { after });
      return row?.count ?? 0;
    },
    /** The agent's threads with messages; with a counterpart (id or canonical handle), only those that it is also a member of. */
    listThreads(agentId: string, counterpart: string | null): Promise<SearchedThread[]> {
      return query<SearchedThread>(db, statements.listThreads, { agent_id: agentId, counterpart });
    },
    /**
     * Matching messages that one of the readers (agent ids) can read, newest first. Scans the latest messages, which finds common words. Then searches the
     * word index in steps back in time, which finds rare ones. Neither reads many rows.
     */
    async search(readers: string | readonly string[], search: MessageSearch): Promise<MessageRow[]> {
      const { thread_ids, from_id, below_id, after, before, limit } = search;
      const { scannedRange, recent, range } = searchStatements;
      const kind = search.with_attachment ? 'with_attachment' : 'plain';
      const sender = await senderId(search.sender);
      const reader_ids = [readers].flat();
      const conditions = { reader_ids, thread_ids, query: search.query, after, before, sender };

      const [scanned] = await query<ScannedRange>(db, scannedRange, { from_id, below_id });
      const found = await query<MessageRow>(db, recent[kind], {
        ...conditions,
        from_id: scanned?.reached ?? from_id,
        below_id,
        limit,
      });
      if (!scanned) return found;
      const { newest, reached, oldest } = scanned;
      for (let below = reached; below > oldest && found.length < limit;) {
        const step = computeNextStep(newest, below, found.length / limit);
        const from = step > oldest ? step : oldest;
        const rest = await query<MessageRow>(db, range[kind], {
          ...conditions,
          from_id: from,
          below_id: below,
          limit: limit - found.length,
          periods: listPeriods(from, below),
        });
        found.push(...rest);
        below = from;
      }
      return found;
    },
    /** The delay of indexing for messages since a time in milliseconds. Reads every row: for measurements only. */
    async lag(since: number): Promise<IndexLag | undefined> {
      return (await query<IndexLag>(db, statements.lag, { since }))[0];
    },
  };
}
