import { hideFromPlanner, statement, unpreparedStatement } from '../queryable.ts';
import { messageColumns } from './messages.ts';
import { rowPeriods } from './search-periods.ts';

/** Writes a parameter into a statement: as it is, or hidden from the planner. */
type Parameter = (name: string, type: string) => string;

const hide: Parameter = (name, type) => hideFromPlanner(`:${name}`, type);
const show: Parameter = (name, type) => `:${name}::${type}`;

const isFrom = (value: Parameter) => `s.message_id >= ${value('from_id', 'text')}`;
const isBelow = (value: Parameter) => `s.message_id < ${value('below_id', 'text')}`;

const isInTime = (value: Parameter) =>
  `s.created_at >= ${value('after', 'bigint')} and s.created_at < ${value('before', 'bigint')}`;

const isFromSender = (value: Parameter) =>
  `(${value('sender', 'text')} is null or s.sender_id = ${value('sender', 'text')})`;

/** A lookup in a hash table, however many the threads are. `is true` keeps the planner from making a join of it. */
const isInThreads = `(s.thread_id in (select unnest(${hide('thread_ids', 'text[]')}))) is true`;

/** Only members of a thread can read its messages, and the people of these members. */
const isReadable = (value: Parameter) =>
  `exists (select from thread_members v where v.thread_id = s.thread_id and v.agent_id = any(${value('reader_ids', 'text[]')}))`;

const hasAttachment = 'exists (select from attachments t where t.message_id = s.message_id)';

/** The newest matches among selected rows `s` of message_search. `offset 0` keeps the cheap conditions of the selection first. */
function selectPage(rows: string, value: Parameter, filters: string[]): string {
  const matches = `s.document @@ ${value('query', 'tsquery')}`;
  return `with page as materialized (
      select s.message_id from (${rows} offset 0) s
      where ${[isBelow(value), matches, isReadable(value), ...filters].join(' and ')}
      order by s.message_id desc limit ${value('limit', 'int')}
    )
    select ${messageColumns} from page join messages m on m.id = page.message_id join agents a on a.id = m.sender_id
    order by m.id desc`;
}

const all = (value: Parameter, filters: ((value: Parameter) => string)[]) =>
  filters.map((filter) => filter(value)).join(' and ');

/** The index does not store the order of words. */
const hasWords = (value: Parameter) =>
  `s.document @@ ${value('words', 'tsquery')} and ${rowPeriods} && ${value('periods', 'text[]')}`;

const isOfThread = (value: Parameter) => `s.thread_id = any(${value('thread_ids', 'text[]')})`;

/**
 * Ways to select rows. Where the planner does not see the values and an index has to find few rows, the upper bound of the range is missing:
 * with both bounds the planner expects few rows in the range too, and reads all its keys. The lower bound alone excludes older partitions.
 */
const conditions = {
  inRange: `${all(hide, [isFrom, isBelow, isInTime, isFromSender])} and ${isInThreads} order by s.message_id desc`,
  inThreads: all(hide, [isOfThread, isFrom, isInTime, isFromSender]),
  byWords: `${all(hide, [hasWords, isFrom, isInTime])} and ${isInThreads}`,
  byWordsPlanned: all(show, [hasWords, isOfThread, isFrom, isBelow, isInTime, isFromSender]),
};

function pageStatements(suffix: string, filters: string[]) {
  const page = (selection: keyof typeof conditions, value: Parameter) =>
    selectPage(`select s.* from message_search s where ${conditions[selection]}`, value, filters);
  return {
    /** Scans the messages of all agents in a range. */
    inRange: statement(`message_search.in_range${suffix}`, page('inRange', hide)),
    /** Reads every message of the threads. */
    inThreads: statement(`message_search.in_threads${suffix}`, page('inThreads', hide)),
    byWords: statement(`message_search.by_words${suffix}`, page('byWords', hide)),
    /** The planner must see the values where words, threads or sender can be the rarest: it combines their indexes. */
    byWordsPlanned: unpreparedStatement(page('byWordsPlanned', show)),
  };
}

const edge = (order: string, offset: string) =>
  `select s.message_id from message_search s where ${isFrom(hide)} and ${isBelow(hide)} order by s.message_id ${order} offset ${offset} limit 1`;

export const searchStatements = {
  /** No row when there is no message before the scanned ones. */
  scannedRange: statement(
    'message_search.scanned_range',
    `select newest, reached, oldest
     from (${edge('desc', '0')}) n (newest), (${edge('desc', `${hide('scanned_rows', 'int')} - 1`)}) r (reached), (${edge('asc', '0')}) o (oldest)
     where oldest < reached`,
  ),
  all: pageStatements('', []),
  with_attachment: pageStatements('_with_attachment', [hasAttachment]),
};
