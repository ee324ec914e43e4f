import { minIdAt } from '../../domain/ids.ts';
import { type AttachmentColumns, filesOfMessages } from '../attachments/attachments.ts';
import {
  unpreparedStatement,
  type Queryable,
  type Statement,
  statement,
  hideFromPlanner,
} from '../queryable.ts';

export type ContentType = 'text' | 'markdown';

export interface MessageRow {
  id: string;
  thread_id: string;
  sequence: number;
  sender_id: string;
  sender_handle: string;
  content: string;
  content_type: ContentType;
  reply_to: string | null;
  metadata: Record<string, unknown>;
  attachments: AttachmentColumns[];
  created_at: number;
}

/** Of messages m and the sender a. */
export const messageColumns = `m.id, m.thread_id, m.sequence, m.sender_id, a.canonical_handle as sender_handle, m.content, m.content_type,
  m.reply_to, m.metadata, ${filesOfMessages} as attachments, m.created_at`;

/** More than any page has. */
const maxPageSize = 200;

/**
 * A page among sequences that are as many as it has rows, in a range of ids. So few rows are cheap to sort under every plan, and one is
 * made for good: a plan for sequences without a lower or an upper end would sort them out of all of a long thread.
 */
function page(order: 'asc' | 'desc'): Statement {
  return statement(
    `messages.page_${order}`,
    `select ${messageColumns} from messages m join agents a on a.id = m.sender_id
     where m.thread_id = ${hideFromPlanner('$1', 'text')} and m.sequence > ${hideFromPlanner('$2', 'int')} and m.sequence < ${hideFromPlanner('$3', 'int')}
       and m.id >= ${hideFromPlanner('$5', 'text')} and m.id < ${hideFromPlanner('$6', 'text')}
     order by m.sequence ${order} limit $4`,
  );
}

/**
 * A page wherever its rows lie. The planner must see the values: for any values it takes the range for a few rows, and would sort
 * them out of all of a long thread. The limit inside is one that it sees in any case.
 */
function pageAnywhere(order: 'asc' | 'desc'): Statement {
  return unpreparedStatement(`select ${messageColumns}
     from (select * from messages where thread_id = $1 and sequence > $2 and sequence < $3
           order by sequence ${order} limit ${maxPageSize}) m
     join agents a on a.id = m.sender_id
     order by m.sequence ${order} limit $4`);
}

const statements = {
  /**
   * One round trip: the next sequence of the thread, the message, and the sender's read mark, which moves along only when
   * nothing unread lies before it: an agent that writes without reading keeps its unread messages. Time never runs backwards
   * along the sequence, whoever had to wait for the thread. Whoever is no member changes nothing and waits for nobody.
   * A quick answer to another agent is counted for the two of them, when exchanges have a period ($10, in ms): within $11 ms of
   * the last message, whose sender the thread remembers. What is refused then is undone, and has cost nothing.
   */
  append: statement(
    'messages.append',
    `with thread as (
       update threads t set last_sequence = t.last_sequence + 1, last_message_at = greatest(t.last_message_at, $8),
         updated_at = greatest(t.updated_at, $8), last_sender_id = $3
       from threads before
       where t.id = $2 and before.id = $2 and exists (select from thread_members where thread_id = $2 and agent_id = $3)
       returning t.last_sequence, t.last_message_at, before.last_sender_id as answered_id, before.last_message_at as answered_at
     ), mark as (
       update thread_members m set read_sequence = thread.last_sequence from thread
       where m.thread_id = $2 and m.agent_id = $3 and m.read_sequence = thread.last_sequence - 1
     ), exchange as (
       insert into thread_exchanges as x (thread_id, one_id, other_id, exchanges, since)
       select $2, least($3, answered_id), greatest($3, answered_id), 1, last_message_at from thread
       where $10::bigint is not null and answered_id <> $3 and last_message_at - answered_at <= $11
       on conflict (thread_id, one_id, other_id) do update set
         exchanges = case when x.since > excluded.since - $10 then x.exchanges + 1 else 1 end,
         since = case when x.since > excluded.since - $10 then x.since else excluded.since end
       returning exchanges, since
     )
     insert into messages (id, thread_id, sequence, sender_id, content, content_type, reply_to, metadata, attachment_count, created_at)
     select $1, $2, last_sequence, $3, $4, $5, $6, $7, $9, last_message_at from thread
     returning sequence, created_at, (select exchanges from exchange) as exchanges, (select since from exchange) as since`,
  ),
  find: statement(
    'messages.find',
    `select ${messageColumns} from messages m join agents a on a.id = m.sender_id where m.thread_id = $1 and m.id = $2`,
  ),
  page: { asc: page('asc'), desc: page('desc') },
  anywhere: { asc: pageAnywhere('asc'), desc: pageAnywhere('desc') },
};

export interface NewMessage {
  id: string;
  thread_id: string;
  sender_id: string;
  content: string;
  content_type: ContentType;
  reply_to: string | null;
  metadata: Record<string, unknown>;
  attachment_count: number;
  created_at: number;
}

/** How exchanges are counted: both in milliseconds. */
export interface ExchangePeriod {
  /** How soon behind the last message another agent's is one. */
  within: number;
  period: number;
}

export interface AppendedMessage {
  sequence: number;
  created_at: number;
  /** How many exchanges its two agents have had in the thread, and since when; null when it is none, or none are counted. */
  exchanges: number | null;
  since: number | null;
}

export interface MessageRange {
  /** Only sequences below this one. */
  below: number;
  /** Only sequences above this one. */
  above: number;
  order: 'asc' | 'desc';
  limit: number;
}

/** A thread as it stood before its messages were read. */
export interface ListedThread {
  id: string;
  last_sequence: number;
  last_message_at: number | null;
  created_at: number;
}

/** How far the clocks of processes may be apart, in milliseconds. */
const maxClockSkewMs = 24 * 60 * 60 * 1000;

/** Between which sequences a page lies when none is missing. What was sent since the thread was read is newer than any of them. */
function expectedRange(thread: ListedThread, range: MessageRange): { above: number; below: number } {
  const { above, below, order, limit } = range;
  if (order === 'asc') return { above, below: Math.min(below, above + limit + 1) };
  return { above: Math.max(above, Math.min(below - 1, thread.last_sequence) - limit), below };
}

/** Whether a page holds all that was there: sequences have no hole. */
function isComplete(rows: readonly MessageRow[], thread: ListedThread, range: MessageRange): boolean {
  const { above, order, limit } = range;
  const top = Math.min(range.below - 1, thread.last_sequence);
  if (top <= above) return true;
  const [first, last] = [rows[0]?.sequence ?? 0, rows.at(-1)?.sequence ?? 0];
  const begins = order === 'asc' ? first === above + 1 : first >= top;
  return begins && rows.length >= Math.min(limit, top - above) && Math.abs(first - last) === rows.length - 1;
}

export function messagesRepository(db: Queryable) {
  return {
    /**
     * Appends to a thread whose row the transaction holds; may be sent right behind the lock. Answers the message's place
     * and time.
     * @throws when the sender is no member.
     */
    async append(message: NewMessage, counted: ExchangePeriod | null): Promise<AppendedMessage> {
      const { id, thread_id, sender_id, content, content_type, reply_to, metadata } = message;
      const what = [content, content_type, reply_to, metadata, message.created_at, message.attachment_count];
      const count = [counted?.period ?? null, counted?.within ?? null];
      const values = [id, thread_id, sender_id, ...what, ...count];
      const [row] = await db.query<AppendedMessage>(statements.append, values);
      if (!row) throw new Error(`${sender_id} cannot append to ${thread_id}`);
      return row;
    },
    async find(threadId: string, id: string): Promise<MessageRow | undefined> {
      return (await db.query<MessageRow>(statements.find, [threadId, id]))[0];
    },
    /**
     * Looks where the page lies in a thread without a hole, in the partitions of the time in which the thread was in use; and everywhere
     * when that was not all: the first rows have left, or clocks were wrong.
     */
    async list(thread: ListedThread, range: MessageRange): Promise<MessageRow[]> {
      const { above, below } = expectedRange(thread, range);
      const rows = await db.query<MessageRow>(statements.page[range.order], [
        thread.id,
        above,
        below,
        range.limit,
        minIdAt('message', thread.created_at - maxClockSkewMs),
        minIdAt('message', (thread.last_message_at ?? thread.created_at) + maxClockSkewMs),
      ]);
      if (isComplete(rows, thread, range)) return rows;
      const ends = [range.above, range.below];
      return db.query<MessageRow>(statements.anywhere[range.order], [thread.id, ...ends, range.limit]);
    },
  };
}
