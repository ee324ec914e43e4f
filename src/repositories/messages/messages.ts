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
  page: { asc: page('asc'), desc: page('desc') },
  anywhere: { asc: pageAnywhere('asc'), desc: pageAnywhere('desc') },
};

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
