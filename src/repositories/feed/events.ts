import type { EventType } from '../../../packages/core/src/events/list.ts';
import type { DeliveredMark, FeedRange } from '../../../packages/core/src/domain/feed/receipts.ts';
import { filesOfMessages } from '../attachments/attachments.ts';
import { laterChanges, type MessageRow, writtenBy } from '../messages/messages.ts';
import { hideFromPlanner, query, statement } from '../queryable.ts';
import { repository, sql } from '../sql.ts';

export interface EventRow {
  id: string;
  type: EventType;
  thread_id: string | null;
  data: object | null;
  created_at: number;
  /** The message that the event is about, as it is in its own table. */
  message: MessageRow | null;
  /** The trace of its cause (W3C Trace Context), where that was traced. */
  traceparent?: string | null;
}

/** The agents that receive events. */
interface Recipients {
  /** The last number of each of their feeds. */
  positions: Record<string, number>;
  /** Those with an enabled webhook. */
  with_webhooks: string[];
  /** The threads that the events are about. */
  thread_ids: string[];
}

/** At most this many of the newest entries of a range are searched for messages. */
const maxEntriesScanned = 1_000;

const idFilter = (column: string) => `${column} = any(:ids::text[])
       and ${column} between ${hideFromPlanner(':min_id', 'text')} and ${hideFromPlanner(':max_id', 'text')}`;

const statements = {
  /** `offset 0` makes the planner look up messages and senders by key: it takes a table without statistics for small and would scan it. */
  readEvents: statement(
    'feed.read_events',
    `select e.id, e.type, e.thread_id, e.data, e.created_at, e.traceparent,
       m.id as message_id, m.created_at as message_created_at, m.sequence, m.sender_id, a.canonical_handle as sender_handle, m.content, m.content_type, m.reply_to,
       m.metadata, ${filesOfMessages} as attachments, ${writtenBy}, ${laterChanges}
     from events e left join lateral (select * from messages where id = e.message_id offset 0) m on true
     left join lateral (select canonical_handle from agents where id = m.sender_id offset 0) a on true
     where ${idFilter('e.id')}`,
  ),
};

interface EventColumns extends Omit<EventRow, 'message'>, Omit<MessageRow, 'id' | 'thread_id'> {
  thread_id: string;
  message_id: string | null;
  message_created_at: number;
}

function toEventRow(row: EventColumns): EventRow {
  const { id, type, thread_id, data, created_at, traceparent = null, ...rest } = row;
  const { message_id, message_created_at, ...message } = rest;
  return {
    id,
    type,
    thread_id,
    data,
    created_at,
    traceparent,
    message: message_id ? { ...message, id: message_id, thread_id, created_at: message_created_at } : null,
  };
}

/** Ids with their minimum and maximum, from which the planner derives the partitions. */
function withIdRange(ids: readonly string[]) {
  const sorted = ids.toSorted();
  return { ids, min_id: sorted[0] ?? '', max_id: sorted.at(-1) ?? '' };
}

/** The events that feed entries refer to: a part of the feed repository. */
export const feedEventQueries = repository(
  {
    /** The delivered marks that follow from these ranges, by the messages of others. Only the newest thousand entries of a range count. */
    readMarks: sql.rows<[ranges: readonly FeedRange[]], DeliveredMark>(
      'feed.read_marks',
      `select s.agent_id, m.thread_id, max(m.sequence) as sequence
       from unnest(:agent_ids::text[], :after::bigint[], :up_to::bigint[]) s (agent_id, after, up_to)
       cross join lateral (
         select event_id from feed where agent_id = s.agent_id and number <= s.up_to and number > s.after
         order by number desc limit ${maxEntriesScanned}) f
       join events e on e.id = f.event_id
       join messages m on m.id = e.message_id and m.sender_id <> s.agent_id
       group by s.agent_id, m.thread_id`,
      (ranges) => ({
        agent_ids: ranges.map((range) => range.agent_id),
        after: ranges.map((range) => range.after),
        up_to: ranges.map((range) => range.upto),
      }),
    ),
    /** Every agent that receives one of these events. `offset 0` makes the planner start at the recipients, not scan all counters. */
    readRecipients: sql.single<[eventIds: readonly string[]], Recipients>(
      'feed.read_recipients',
      `with e as materialized (select recipients, thread_id from events where ${idFilter('id')})
     select coalesce(json_object_agg(h.agent_id, h.last_number), '{}') as positions,
       coalesce(json_agg(h.agent_id) filter (where exists (
         select from webhooks w where w.agent_id = h.agent_id and w.enabled)), '[]') as with_webhooks,
       array(select distinct thread_id from e where thread_id is not null) as thread_ids
     from (select distinct unnest(recipients) as agent_id from e) r
     cross join lateral (select agent_id, last_number from feed_heads where agent_id = r.agent_id offset 0) h`,
      withIdRange,
    ),
  },
  (db) => ({
    /** Events with their messages, in no order. */
    async readEvents(ids: readonly string[]): Promise<EventRow[]> {
      const rows = await query<EventColumns>(db, statements.readEvents, withIdRange(ids));
      return rows.map(toEventRow);
    },
  }),
);
