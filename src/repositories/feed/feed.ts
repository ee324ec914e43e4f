import type { EventType, FeedEntry } from '../../domain/feed/events.ts';
import { minIdAt } from '../../domain/ids.ts';
import type { DeliveredMark, FeedRange } from '../../domain/feed/receipts.ts';
import { filesOfMessages } from '../attachments/attachments.ts';
import type { MessageRow } from '../messages/messages.ts';
import { type Queryable, type Statement, statement, hideFromPlanner } from '../queryable.ts';

export interface EventRow {
  id: string;
  type: EventType;
  thread_id: string | null;
  data: object | null;
  created_at: number;
  /** The message that the event is about, as it stands in its own table. */
  message: MessageRow | null;
  /** The trace of its cause (W3C Trace Context), where that was traced. */
  traceparent?: string | null;
}

export interface FeedCounter {
  agent_id: string;
  last_number: number;
  acknowledged_number: number | null;
}

export interface FeedBounds extends FeedCounter {
  /** The oldest number still kept; null when nothing is. */
  first_number: number | null;
  /** Where each stretch of numbers before the present one ended; null when there is only one. */
  ended_stretches: number[] | null;
}

/** Agents whom events concern. */
export interface Recipients {
  /** Where their feeds end. */
  heads: Record<string, number>;
  /** Those whose events are posted somewhere. */
  posting: string[];
}

export interface FeedStatus {
  last_number: number;
  /** How much waits behind the acknowledged position; nothing when there is none. */
  pending: number;
}

/** One line of an agent's feed. */
export type FeedEntryRef = Pick<FeedEntry, 'number' | 'event_id'>;

/** How far the clocks of processes may be apart, in milliseconds. */
const maxClockSkewMs = 24 * 60 * 60 * 1000;

/** Lines of an acknowledged stretch that are looked through for messages, at most: its newest ones. */
const maxEntriesScanned = 1_000;

/** The heads of agents, each by its key (offset 0): for ten of them the planner would read a table of a few thousand from end to end. */
const countersOfAgents = `(select distinct unnest($1::text[]) as id) asked
  cross join lateral (select * from feed_heads where agent_id = asked.id offset 0) h`;

const statements = {
  heads: statement(
    'feed.heads',
    `select agent_id, last_number, acknowledged_number from ${countersOfAgents}`,
  ),
  bounds: statement(
    'feed.bounds',
    `select agent_id, last_number, acknowledged_number,
       (select number from feed where feed.agent_id = h.agent_id order by number limit 1) as first_number,
       array_to_json(ended_stretches) as ended_stretches
     from ${countersOfAgents}`,
  ),
  read: statement(
    'feed.read',
    `select r.place::int, f.number, f.event_id
     from unnest($1::text[], $2::bigint[]) with ordinality r (agent_id, after, place)
     cross join lateral (
       select number, event_id from feed where agent_id = r.agent_id and number > r.after order by number limit $3) f
     order by r.place, f.number`,
  ),
  /**
   * The same of lines that follow their position without a hole, and are of the days around now ($4, $5): they lie in one partition
   * or two, and no other is looked into.
   */
  readRecent: statement(
    'feed.read_recent',
    `select r.place::int, f.number, f.event_id
     from unnest(${hideFromPlanner('$1', 'text[]')}, $2::bigint[]) with ordinality r (agent_id, after, place)
     cross join lateral (
       select number, event_id from feed
       where agent_id = r.agent_id and number > r.after and number <= r.after + $3::bigint
         and event_id >= ${hideFromPlanner('$4', 'text')} and event_id < ${hideFromPlanner('$5', 'text')}
       order by number) f
     order by r.place, f.number`,
  ),
  /** The planner must look messages and senders up (offset 0): a table without statistics it takes for small, and would read it whole. */
  events: statement(
    'feed.events',
    `select e.id, e.type, e.thread_id, e.data, e.created_at, e.traceparent,
       m.id as message_id, m.created_at as message_created_at, m.sequence, m.sender_id, a.canonical_handle as sender_handle, m.content, m.content_type, m.reply_to,
       m.metadata, ${filesOfMessages} as attachments
     from events e left join lateral (select * from messages where id = e.message_id offset 0) m on true
     left join lateral (select canonical_handle from agents where id = m.sender_id offset 0) a on true
     where e.id = any(${hideFromPlanner('$1', 'text[]')}) and e.id between ${hideFromPlanner('$2', 'text')} and ${hideFromPlanner('$3', 'text')}`,
  ),
  /** Heads are locked in the order of their ids, as commits lock them: the two never wait for each other in a circle. */
  acknowledge: statement(
    'feed.acknowledge',
    `with locked as (
       select agent_id, last_number, coalesce(acknowledged_number, -1) as before from feed_heads where agent_id = any($1)
       order by agent_id for no key update
     ), wish as (
       select agent_id, before, max(number) as number from unnest($1::text[], $2::bigint[]) w (agent_id, number)
       join locked using (agent_id) where number <= last_number group by agent_id, before
     )
     update feed_heads h set acknowledged_number = w.number
     from wish w where h.agent_id = w.agent_id and w.before < w.number
     returning h.agent_id, greatest(w.before, 0) as after, w.number as upto`,
  ),
  marks: statement(
    'feed.marks',
    `select s.agent_id, m.thread_id, max(m.sequence) as sequence
     from unnest($1::text[], $2::bigint[], $3::bigint[]) s (agent_id, after, upto)
     cross join lateral (
       select event_id from feed where agent_id = s.agent_id and number <= s.upto and number > s.after
       order by number desc limit ${maxEntriesScanned}) f
     join events e on e.id = f.event_id
     join messages m on m.id = e.message_id and m.sender_id <> s.agent_id
     group by s.agent_id, m.thread_id`,
  ),
  standings: statement(
    'feed.standings',
    `select w.place::int, h.last_number, (
       select count(*)::int
       from (select event_id from feed where agent_id = h.agent_id and number > h.acknowledged_number
             order by number limit $3) f
       join events e on e.id = f.event_id and e.type = any(string_to_array(w.types, ','))) as pending
     from unnest($1::text[], $2::text[]) with ordinality w (agent_id, types, place)
     cross join lateral (select * from feed_heads where agent_id = w.agent_id offset 0) h`,
  ),
  /** One row, however many they are. The planner must go by recipients (offset 0), and not through the heads of all agents. */
  recipients: statement(
    'feed.recipients',
    `select coalesce(json_object_agg(h.agent_id, h.last_number), '{}') as heads,
       coalesce(json_agg(h.agent_id) filter (where exists (
         select from webhooks w where w.agent_id = h.agent_id and w.enabled)), '[]') as posting
     from (select distinct unnest(recipients) as agent_id from events
           where id = any(${hideFromPlanner('$1', 'text[]')}) and id between ${hideFromPlanner('$2', 'text')} and ${hideFromPlanner('$3', 'text')}) r
     cross join lateral (select agent_id, last_number from feed_heads where agent_id = r.agent_id offset 0) h`,
  ),
};

interface EventColumns extends Omit<EventRow, 'message'>, Omit<MessageRow, 'id' | 'thread_id'> {
  thread_id: string;
  message_id: string | null;
  message_created_at: number;
}

function toEventRow(row: EventColumns): EventRow {
  const { id, type, thread_id, data, created_at, traceparent = null, ...about } = row;
  const { message_id, message_created_at, ...message } = about;
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

/** Identifiers with the lowest and the highest of them, by which the planner knows the partitions. */
function withIdRange(ids: readonly string[]): [readonly string[], string, string] {
  const sorted = ids.toSorted();
  return [ids, sorted[0] ?? '', sorted.at(-1) ?? ''];
}

export function feedRepository(db: Queryable) {
  /** One list for each position, all in one round trip. */
  async function linesOf(
    query: Statement,
    positions: readonly { agent_id: string; after: number }[],
    limit: number,
    range: readonly string[] = [],
  ): Promise<FeedEntryRef[][]> {
    const lists: FeedEntryRef[][] = positions.map(() => []);
    const rows = await db.query<FeedEntryRef & { place: number }>(query, [
      positions.map((position) => position.agent_id),
      positions.map((position) => position.after),
      limit,
      ...range,
    ]);
    for (const { place, number, event_id } of rows) lists[place - 1]?.push({ number, event_id });
    return lists;
  }

  return {
    /** The last number and the acknowledged one, for each agent that exists. */
    readCounters(agentIds: readonly string[]): Promise<FeedCounter[]> {
      return db.query<FeedCounter>(statements.heads, [agentIds]);
    },
    /** The heads together with the oldest number still kept, for each agent that exists. */
    readBounds(agentIds: readonly string[]): Promise<FeedBounds[]> {
      return db.query<FeedBounds>(statements.bounds, [agentIds]);
    },
    /**
     * Up to `limit` lines after each position, in order: one list for each position. Young ones are looked for first: numbers have no
     * holes, so a list that begins with the next one is right. What they do not answer is looked for everywhere.
     */
    async read(
      positions: readonly { agent_id: string; after: number }[],
      limit: number,
    ): Promise<FeedEntryRef[][]> {
      const now = Date.now();
      const young = [minIdAt('event', now - maxClockSkewMs), minIdAt('event', now + maxClockSkewMs)];
      const lists = await linesOf(statements.readRecent, positions, limit, young);
      const open = positions.flatMap(({ after }, index) =>
        lists[index]?.[0]?.number === after + 1 ? [] : index,
      );
      if (open.length === 0) return lists;
      const rest = open.flatMap((index) => positions[index] ?? []);
      const found = await linesOf(statements.read, rest, limit);
      for (const [place, index] of open.entries()) lists[index] = found[place] ?? [];
      return lists;
    },
    async readEvents(ids: readonly string[]): Promise<EventRow[]> {
      return (await db.query<EventColumns>(statements.events, withIdRange(ids))).map(toEventRow);
    },
    /** Moves durable positions forward, never back, never past the end; answers what they have passed. */
    acknowledge(positions: readonly { agent_id: string; number: number }[]): Promise<FeedRange[]> {
      return db.query<FeedRange>(statements.acknowledge, [
        positions.map((position) => position.agent_id),
        positions.map((position) => position.number),
      ]);
    },
    /** How far these stretches lead in threads, by the messages of others: at most their newest thousand lines count. */
    readMarks(stretches: readonly FeedRange[]): Promise<DeliveredMark[]> {
      return db.query<DeliveredMark>(statements.marks, [
        stretches.map((stretch) => stretch.agent_id),
        stretches.map((stretch) => stretch.after),
        stretches.map((stretch) => stretch.upto),
      ]);
    },
    /**
     * Where feeds end, and how many of the next `limit` lines behind the acknowledged positions are events of these types. In the
     * order of the questions; undefined for an agent without a feed.
     */
    async readStatuses(
      questions: readonly { agent_id: string; types: readonly EventType[] }[],
      limit: number,
    ): Promise<(FeedStatus | undefined)[]> {
      const rows = await db.query<FeedStatus & { place: number }>(statements.standings, [
        questions.map(({ agent_id }) => agent_id),
        questions.map(({ types }) => types.join(',')),
        limit,
      ]);
      const placed = new Map(rows.map((row) => [row.place, row]));
      return questions.map((_, index) => placed.get(index + 1));
    },
    /** Every agent whom these events concern. */
    async readRecipients(eventIds: readonly string[]): Promise<Recipients> {
      const [recipients] = await db.query<Recipients>(statements.recipients, withIdRange(eventIds));
      if (!recipients) throw new Error('an aggregate is always one row');
      return recipients;
    },
  };
}
