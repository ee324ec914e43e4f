import { isDuplicateKey } from '../errors.ts';
import { query, type Queryable, statement, unflushedCommit } from '../queryable.ts';
import { repository, sql } from '../sql.ts';
import type { MessageRow } from './messages.ts';
import { computeNextStep, listPeriods } from './search-periods.ts';
import { searchStatements } from './search-statements.ts';

const statements = {
  findSender: statement(
    'message_search.find_sender',
    'select id from agents where id = :reference or canonical_handle = :reference',
  ),
};

/** Numbers of messages that decide how a search reads. */
const defaultLimits = {
  /** Maximum messages that are read without the word index: the latest ones, or all of the threads. */
  scanned: 4_000,
  /** Maximum messages in the threads for which each step is planned for its values: the index of threads can be better than that of words. */
  planned: 50_000,
};

export interface MessageDocument {
  message_id: string;
  /** The text form of a tsvector. */
  document: string;
}

export interface SearchedThread {
  thread_id: string;
  last_message_at: number;
  last_sequence: number;
}

export interface MessageSearch {
  /** The threads to search. Threads that the reader is not a member of are skipped. */
  thread_ids: readonly string[];
  /** At least the number of messages in these threads. */
  messages: number;
  /** The text form of a tsquery. */
  query: string;
  /** The query without the order of words: matches the same messages, and more. */
  words: string;
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

/** Ids of messages: the scan of the latest messages goes from `newest` back to `reached`. */
interface ScannedRange {
  newest: string;
  reached: string;
  oldest: string;
}

/** An id, so that the planner can estimate the number of messages. The empty id matches no agent. */
async function findSenderId(db: Queryable, reference: string | null): Promise<string | null> {
  if (reference === null) return null;
  return (await query<{ id: string }>(db, statements.findSender, { reference }))[0]?.id ?? '';
}

/** The values of every statement of a search. */
type Conditions = Pick<MessageSearch, 'thread_ids' | 'query' | 'after' | 'before' | 'sender'> & {
  reader_ids: readonly string[];
};

/** Adds matches from the word index to those of the scanned range, in steps back in time. */
async function addOlderMatches(
  db: Queryable,
  found: MessageRow[],
  parts: { scanned: ScannedRange; search: MessageSearch; conditions: Conditions; isPlanned: boolean },
): Promise<void> {
  const { newest, reached, oldest } = parts.scanned;
  const { limit, words, with_attachment } = parts.search;
  const { sender, ...withoutSender } = parts.conditions;
  const { byWords, byWordsPlanned } = searchStatements[with_attachment ? 'with_attachment' : 'all'];
  for (let below = reached; below > oldest && found.length < limit;) {
    const step = computeNextStep(newest, below, found.length / limit);
    const from = step > oldest ? step : oldest;
    const range = { from_id: from, below_id: below, periods: listPeriods(from, below) };
    const values = { ...withoutSender, ...range, words, limit: limit - found.length };
    const rows = parts.isPlanned
      ? query<MessageRow>(db, byWordsPlanned, { ...values, sender })
      : query<MessageRow>(db, byWords, values);
    found.push(...(await rows));
    below = from;
  }
}

type IndexArguments = [documents: readonly MessageDocument[], version: number, now: number];

/**
 * `now` is in milliseconds. Skips messages that were erased or withdrawn after their content was read. `offset 0` makes the planner look up
 * each message by key. A row that a crash of the database loses is written again by its job, or by the next reindex.
 */
const insertRows = `insert into message_search (message_id, thread_id, sender_id, document, version, created_at, indexed_at)
     select m.id, m.thread_id, m.sender_id, d.document::tsvector, :version, m.created_at, :now
     from unnest(:message_ids::text[], :documents::text[]) d (message_id, document)
     cross join ${unflushedCommit}
     cross join lateral (select * from messages where id = d.message_id offset 0) m
     where m.withdrawn_at is null and (m.content <> '' or m.metadata <> '{"erased": true}')
     order by m.id`;

function toIndexValues(...[documents, version, now]: IndexArguments) {
  const message_ids = documents.map(({ message_id }) => message_id);
  return { message_ids, documents: documents.map(({ document }) => document), version, now };
}

const statementMethods = repository({
  /** Writes the search rows of messages. Fails if one of them has a row: that costs less than to look for it first. */
  insert: sql.run<IndexArguments>('message_search.insert', insertRows, toIndexValues),
  /** Writes search rows; replaces those that are not of a newer version: a worker of an older release may run at the same time. */
  replace: sql.run<IndexArguments>(
    'message_search.index',
    `${insertRows}
     on conflict (message_id) do update
       set document = excluded.document, version = excluded.version, indexed_at = excluded.indexed_at
       where message_search.version <= excluded.version`,
    toIndexValues,
  ),
  remove: sql.run<[messageIds: readonly string[]]>(
    'message_search.remove',
    'delete from message_search where message_id = any(:message_ids::text[])',
  ),
  removeOfSender: sql.run<[senderId: string]>(
    'message_search.remove_of_sender',
    'delete from message_search where sender_id = :sender_id',
  ),
  /** Id and content of the messages of these events, in no order. `offset 0` makes the planner look up both by key. */
  listContents: sql.rows<[eventIds: readonly string[]], { id: string; content: string }>(
    'message_search.list_contents(event_ids)',
    `select m.id, m.content from unnest(:event_ids::text[]) n (id)
     cross join lateral (select message_id from events where id = n.id offset 0) e
     cross join lateral (select id, content from messages where id = e.message_id offset 0) m`,
  ),
  /**
   * The next messages by id. `content` is null where the search row has this version, unless `all` is set. Reads content only where it
   * is needed: most rows are up to date.
   */
  listAfter: sql.rows<
    [after: string, page: { version: number; all: boolean; limit: number }],
    { id: string; content: string | null }
  >(
    'message_search.list_after(after, ...)',
    `select m.id, case when :all or s.version is null or s.version < :version then m.content end as content
     from messages m left join message_search s on s.message_id = m.id and s.thread_id = m.thread_id
     where m.id > :after order by m.id limit :limit`,
  ),
  countAfter: sql.value<[after: string], number>(
    'message_search.count_after',
    `select count(*) from messages where id > :after`,
  ),
  /** The agent's threads with messages; with a counterpart (id or canonical handle), only those that it is also a member of. */
  listThreads: sql.rows<[agentId: string, counterpart: string | null], SearchedThread>(
    'message_search.list_threads(agent_id, counterpart)',
    `select v.thread_id, t.last_message_at, t.last_sequence from thread_members v join threads t on t.id = v.thread_id
     where v.agent_id = :agent_id and t.last_message_at is not null and (:counterpart::text is null or exists (
       select from thread_members w
       where w.thread_id = v.thread_id and w.agent_id <> :agent_id
         and w.agent_id = (select id from agents where id = :counterpart or canonical_handle = :counterpart)))`,
  ),
});

export function messageSearchRepository(db: Queryable, limits = defaultLimits) {
  const methods = statementMethods(db);
  return {
    ...methods,
    /** Writes the search rows of new messages, as `replace`: a job that runs again finds rows of its first run. Not in a transaction. */
    async index(...input: IndexArguments): Promise<void> {
      try {
        await methods.insert(...input);
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
        await methods.replace(...input);
      }
    },
    /**
     * Matching messages that one of the readers (agent ids) can read, newest first. Reads all messages of the threads if these are few.
     * Otherwise scans the latest messages, which finds frequent words. Then searches the word index in steps back in time, which finds
     * rare ones. None of these reads many rows.
     */
    async search(readers: string | readonly string[], search: MessageSearch): Promise<MessageRow[]> {
      const { thread_ids, from_id, below_id, after, before, limit } = search;
      const { inThreads, inRange } = searchStatements[search.with_attachment ? 'with_attachment' : 'all'];
      const sender = await findSenderId(db, search.sender);
      const reader_ids = [readers].flat();
      const conditions = { reader_ids, thread_ids, query: search.query, after, before, sender };
      const page = { ...conditions, from_id, below_id, limit };
      if (search.messages <= limits.scanned) return query<MessageRow>(db, inThreads, page);

      const range = { from_id, below_id, scanned_rows: limits.scanned };
      const [scanned] = await query<ScannedRange>(db, searchStatements.scannedRange, range);
      const found = await query<MessageRow>(db, inRange, { ...page, from_id: scanned?.reached ?? from_id });
      const isPlanned = sender !== null || search.messages <= limits.planned;
      if (scanned) await addOlderMatches(db, found, { scanned, search, conditions, isPlanned });
      return found;
    },
  };
}
