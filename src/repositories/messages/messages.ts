import type { MessageWriter } from '../../../packages/core/src/domain/threads.ts';
import { minIdAt } from '../../../packages/core/src/domain/ids.ts';
import { type AttachmentColumns, filesOfMessages } from '../attachments/attachments.ts';
import { unpreparedStatement, type Statement, statement, hideFromPlanner } from '../queryable.ts';
import { repository, sql } from '../sql.ts';

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
  written_by: MessageWriter;
  created_at: number;
  /** When its sender withdrew it; null if it did not. Absent in a message that is just sent, as `replaced_by`. */
  withdrawn_at?: number | null;
  /** The message that it replaces. */
  replaces?: string | null;
  replaced_by?: string | null;
}

/** Needs messages `m`. Null is the agent: the column is newer than the table. */
export const writtenBy = `coalesce(m.written_by, 'agent') as written_by`;

/** Needs messages `m`: what its sender did to it later. */
export const laterChanges = 'm.withdrawn_at, m.replaces, m.replaced_by';

/** Sets the columns of a message that has no content any more. */
export const clearedContent = `content = '', content_type = 'text', attachment_count = 0`;

/** Needs messages `m`: the first characters, or what a message without a text has in their place. */
export const previewOf = (characters: number) =>
  `case when m.withdrawn_at is not null then 'Withdrawn' when m.content = '' and m.attachment_count > 0
     then m.attachment_count || case m.attachment_count when 1 then ' file' else ' files' end
   else left(m.content, ${characters}) end`;

/** Needs messages `m` and agents `a`, the sender. */
export const messageColumns = `m.id, m.thread_id, m.sequence, m.sender_id, a.canonical_handle as sender_handle, m.content, m.content_type,
  m.reply_to, m.metadata, ${filesOfMessages} as attachments, ${writtenBy}, m.created_at, ${laterChanges}`;

/** Larger than the largest page. */
const maxPageSize = 200;

/**
 * A page in a range of sequences as large as the page, and in a range of ids. So few rows are cheap to sort under every plan, so one plan
 * is kept. A plan for an open range would sort a whole long thread.
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
 * A page in an open range. The planner must see the values: without them it expects few rows, and would sort a whole long thread. The
 * inner limit is a constant that it always sees.
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
  /** The planner must see the values, as for `pageAnywhere`. */
  firstOfOthers: unpreparedStatement(`select ${messageColumns}
     from (select * from messages where thread_id = $1 and sequence > $2 and sender_id <> $3 order by sequence limit 1) m
     join agents a on a.id = m.sender_id`),
};

export interface MessageRange {
  /** Only sequences below this one. */
  below: number;
  /** Only sequences above this one. */
  above: number;
  order: 'asc' | 'desc';
  limit: number;
}

/** The last message of a thread with its first characters. */
export interface LastMessageRow extends Pick<
  MessageRow,
  'thread_id' | 'id' | 'sequence' | 'sender_id' | 'sender_handle'
> {
  preview: string;
}

/** A thread, read before its messages. */
export interface ListedThread {
  id: string;
  last_sequence: number;
  last_message_at: number | null;
  created_at: number;
}

/** The largest expected difference between the clocks of two processes. */
const maxClockSkewMs = 24 * 60 * 60 * 1000;

/** The range of sequences of a page when none is missing. Messages sent since the thread was read are newer. */
function expectedRange(thread: ListedThread, range: MessageRange): { above: number; below: number } {
  const { above, below, order, limit } = range;
  if (order === 'asc') return { above, below: Math.min(below, above + limit + 1) };
  return { above: Math.max(above, Math.min(below - 1, thread.last_sequence) - limit), below };
}

/** Whether a page has every row of its range. Sequences have no gaps. */
function isComplete(rows: readonly MessageRow[], thread: ListedThread, range: MessageRange): boolean {
  const { above, order, limit } = range;
  const top = Math.min(range.below - 1, thread.last_sequence);
  if (top <= above) return true;
  const [first, last] = [rows[0]?.sequence ?? 0, rows.at(-1)?.sequence ?? 0];
  const begins = order === 'asc' ? first === above + 1 : first >= top;
  return begins && rows.length >= Math.min(limit, top - above) && Math.abs(first - last) === rows.length - 1;
}

export const messagesRepository = repository(
  {
    /**
     * The last message of each of these threads that has one, with its first characters. One look-up by key for each thread, in the
     * partitions of the time of its last message.
     */
    listLast: sql.rows<[threads: readonly ListedThread[]], LastMessageRow>(
      'messages.list_last',
      `select m.thread_id, m.id, m.sequence, m.sender_id, a.canonical_handle as sender_handle, m.preview
     from unnest(:thread_ids::text[], :sequences::int[], :min_ids::text[], :max_ids::text[]) r (thread_id, sequence, min_id, max_id)
     cross join lateral (
       select thread_id, id, sequence, sender_id, ${previewOf(400)} as preview from messages m
       where thread_id = r.thread_id and sequence = r.sequence and id >= r.min_id and id < r.max_id limit 1) m
     join agents a on a.id = m.sender_id`,
      (threads) => {
        const times = threads.map(({ created_at, last_message_at }) => last_message_at ?? created_at);
        return {
          thread_ids: threads.map(({ id }) => id),
          sequences: threads.map(({ last_sequence }) => last_sequence),
          min_ids: times.map((time) => minIdAt('message', time - maxClockSkewMs)),
          max_ids: times.map((time) => minIdAt('message', time + maxClockSkewMs)),
        };
      },
    ),
    /** The message, if the agent is a member of its thread. */
    findForMember: sql.row<[id: string, agentId: string], MessageRow>(
      'messages.find_for_member(id, agent_id)',
      `select ${messageColumns} from messages m join agents a on a.id = m.sender_id
       where m.id = :id and exists (select from thread_members v where v.thread_id = m.thread_id and v.agent_id = :agent_id)`,
    ),
    /** Whether an agent has replied to a message. */
    hasReply: sql.value<
      [fields: Pick<MessageRow, 'thread_id' | 'sequence' | 'id'>, sender_id: string],
      boolean
    >(
      'messages.has_reply(..., sender_id)',
      `select exists (select 1 from messages where thread_id = :thread_id and sequence > :sequence and sender_id = :sender_id and reply_to = :id) as exists`,
    ),
  },
  (db) => ({
    /**
     * Reads the range where the page is in a thread without gaps, in the partitions of the time in which the thread was used. If rows
     * are missing there (the first ones were removed, or clocks were wrong), it reads the whole range.
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
    /** The first message after a sequence that another agent sent. */
    async findFirstOfOthers(
      threadId: string,
      afterSequence: number,
      agentId: string,
    ): Promise<MessageRow | undefined> {
      return (await db.query<MessageRow>(statements.firstOfOthers, [threadId, afterSequence, agentId]))[0];
    },
  }),
);
