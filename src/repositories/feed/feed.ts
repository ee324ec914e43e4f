import type { EventType } from '../../../packages/core/src/events/list.ts';
import type { FeedEntry } from '../../../packages/core/src/events/feed-event.ts';
import type { FeedRange } from '../../../packages/core/src/domain/feed/receipts.ts';
import { minIdAt } from '../../../packages/core/src/domain/ids.ts';
import { hideFromPlanner, type NamedStatement, query, type Queryable, statement } from '../queryable.ts';
import { repository, sql } from '../sql.ts';
import { feedEventQueries } from './events.ts';

export interface FeedCounter {
  agent_id: string;
  last_number: number;
  acknowledged_number: number | null;
}

export interface FeedBounds extends FeedCounter {
  /** The oldest number that is kept; null when the feed is empty. */
  first_number: number | null;
  /** The last number of each earlier range of numbers; null when there is none. */
  ended_stretches: number[] | null;
}

/** A part of a feed that was counted before: from a position up to a number. */
interface CountedRange {
  start: number;
  up_to: number;
}

interface FeedStatusRequest {
  agent_id: string;
  /** The events that count; null for all. */
  types: readonly EventType[] | null;
  /** Null: the acknowledged position, or the oldest entry. */
  after: number | null;
  /** Counting continues after it if it begins at the same position. */
  counted: CountedRange | undefined;
  /** Maximum entries that are read. */
  limit: number;
}

interface FeedStatus extends CountedRange {
  last_number: number;
  acknowledged_number: number | null;
  /** Whether the counted range of the request was continued. */
  continued: boolean;
  /** Whether the feed had no more entries after the range. */
  complete: boolean;
  /** Each event that counts, in order: by its message for a new message. */
  ids: string[];
}

/** A feed entry without its event. */
export type FeedEntryRef = Pick<FeedEntry, 'number' | 'event_id'>;

interface FeedPosition {
  agent_id: string;
  after: number;
}

/** The largest difference between the clocks of two processes. */
const maxClockSkewMs = 24 * 60 * 60 * 1000;

/** Looks up each counter by key (offset 0): for ten of them the planner would scan a table of a few thousand. */
const countersOfAgents = `(select distinct unnest(:agent_ids::text[]) as id) requested
  cross join lateral (select * from feed_heads where agent_id = requested.id offset 0) h`;

/** For an event `e` and the message `m` of a new message: `isNews` of the core, in SQL. */
const isNewsFor = (agentId: string): string =>
  `m.sender_id is distinct from ${agentId} and (e.task_change is null
     or e.task_change ->> 'message_id' is null and e.task_change #>> '{by,id}' is distinct from ${agentId})`;

const statements = {
  read: statement(
    'feed.read',
    `select r.place::int, f.number, f.event_id
     from unnest(:agent_ids::text[], :after::bigint[]) with ordinality r (agent_id, after, place)
     cross join lateral (
       select number, event_id from feed where agent_id = r.agent_id and number > r.after order by number limit :limit) f
     order by r.place, f.number`,
  ),
  /** Reads only entries that follow their position without a gap and are in a range of event ids: one or two partitions. */
  readRecent: statement(
    'feed.read_recent',
    `select r.place::int, f.number, f.event_id
     from unnest(:agent_ids::text[], :after::bigint[]) with ordinality r (agent_id, after, place)
     cross join lateral (
       select number, event_id from feed
       where agent_id = r.agent_id and number > r.after and number <= r.after + ${hideFromPlanner(':limit', 'bigint')}
         and event_id >= ${hideFromPlanner(':min_id', 'text')} and event_id < ${hideFromPlanner(':max_id', 'text')}
       order by number) f
     order by r.place, f.number`,
  ),
  /** `offset 0` makes the planner look up events and messages by key, in the order of the entries. */
  readStatuses: statement(
    'feed.read_statuses',
    `select w.place::int, h.last_number, h.acknowledged_number, b.start, c.continued, greatest(b.start, case when c.continued then w.counted_to end, f.up_to) as up_to, f.scanned < w.entries as complete, f.ids
     from unnest(:agent_ids::text[], :types::text[], :after::bigint[], :counted_from::bigint[], :counted_to::bigint[], :limits::int[]) with ordinality
       w (agent_id, types, after, counted_from, counted_to, entries, place)
     cross join lateral (select * from feed_heads where agent_id = w.agent_id offset 0) h
     cross join lateral (
       select greatest(coalesce(w.after, h.acknowledged_number), coalesce(
         (select number from feed where agent_id = h.agent_id order by number limit 1) - 1, h.last_number)) as start
     ) b
     cross join lateral (
       select coalesce(w.counted_from = b.start and w.counted_to <= h.last_number, false) as continued
     ) c
     cross join lateral (
       select max(number) as up_to, count(*) as scanned, coalesce(array_agg(coalesce(e.new_message_id, f.event_id) order by number) filter (where
         (w.types is null or e.type = any(string_to_array(w.types, ','))) and ${isNewsFor('h.agent_id')}), '{}') as ids
       from (select number, event_id from feed
             where agent_id = h.agent_id and number > case when c.continued then w.counted_to else b.start end
             order by number limit case when c.continued and w.counted_to = h.last_number then 0 else w.entries end) f
       cross join lateral (
         select type, case when type = 'message.created' then message_id end as new_message_id,
          case when type = 'task.updated' then data end as task_change from events where id = f.event_id offset 0) e
       left join lateral (select sender_id from messages where id = e.new_message_id offset 0) m on true
     ) f`,
  ),
};

/** Reads the entries after each position, in one round trip: one list per position. */
async function readEntries(
  db: Queryable,
  selection: NamedStatement,
  positions: readonly FeedPosition[],
  values: { limit: number; min_id?: string; max_id?: string },
): Promise<FeedEntryRef[][]> {
  const lists: FeedEntryRef[][] = positions.map(() => []);
  const rows = await query<FeedEntryRef & { place: number }>(db, selection, {
    agent_ids: positions.map((position) => position.agent_id),
    after: positions.map((position) => position.after),
    ...values,
  });
  for (const { place, number, event_id } of rows) lists[place - 1]?.push({ number, event_id });
  return lists;
}

export const feedRepository = repository(
  {
    /** The last number and the acknowledged one, for each agent that exists. */
    readCounters: sql.rows<[agentIds: readonly string[]], FeedCounter>(
      'feed.read_counters',
      `select agent_id, last_number, acknowledged_number from ${countersOfAgents}`,
    ),
    /** The counters with the oldest number that is kept, for each agent that exists. */
    readBounds: sql.rows<[agentIds: readonly string[]], FeedBounds>(
      'feed.read_bounds',
      `select agent_id, last_number, acknowledged_number,
         (select number from feed where feed.agent_id = h.agent_id order by number limit 1) as first_number,
         array_to_json(ended_stretches) as ended_stretches
       from ${countersOfAgents}`,
    ),
    /**
     * Moves acknowledged positions forward, never back and never past the end. Returns the ranges that were acknowledged by it. Locks
     * counters in the order of agent ids, as commits do, so that the two never deadlock.
     */
    acknowledge: sql.rows<[positions: readonly { agent_id: string; number: number }[]], FeedRange>(
      'feed.acknowledge',
      `with locked as (
         select agent_id, last_number, coalesce(acknowledged_number, -1) as before from feed_heads where agent_id = any(:agent_ids::text[])
         order by agent_id for no key update
       ), requested as (
         select agent_id, before, max(number) as number from unnest(:agent_ids::text[], :numbers::bigint[]) w (agent_id, number)
         join locked using (agent_id) where number <= last_number group by agent_id, before
       )
       update feed_heads h set acknowledged_number = r.number
       from requested r where h.agent_id = r.agent_id and r.before < r.number
       returning h.agent_id, greatest(r.before, 0) as after, r.number as upto`,
      (positions) => ({
        agent_ids: positions.map((position) => position.agent_id),
        numbers: positions.map((position) => position.number),
      }),
    ),
  },
  (db) => ({
    ...feedEventQueries(db),
    /**
     * Up to `limit` entries after each position, in order: one list per position. Recent entries are tried first: numbers have no gaps,
     * so a list that begins with the next number is correct. The other positions are read from all partitions.
     */
    async read(positions: readonly FeedPosition[], limit: number): Promise<FeedEntryRef[][]> {
      const now = Date.now();
      const lists = await readEntries(db, statements.readRecent, positions, {
        limit,
        min_id: minIdAt('event', now - maxClockSkewMs),
        max_id: minIdAt('event', now + maxClockSkewMs),
      });
      const missing = positions.flatMap(({ after }, index) =>
        lists[index]?.[0]?.number === after + 1 ? [] : index,
      );
      if (missing.length === 0) return lists;
      const rest = missing.flatMap((index) => positions[index] ?? []);
      const found = await readEntries(db, statements.read, rest, { limit });
      for (const [place, index] of missing.entries()) lists[index] = found[place] ?? [];
      return lists;
    },
    /**
     * The last number of each feed, and which of the next entries after a position are events of others of these types. In the order of the
     * requests; undefined for an agent without a feed.
     */
    async readStatuses(requests: readonly FeedStatusRequest[]): Promise<(FeedStatus | undefined)[]> {
      const rows = await query<FeedStatus & { place: number }>(db, statements.readStatuses, {
        agent_ids: requests.map(({ agent_id }) => agent_id),
        types: requests.map(({ types }) => types?.join(',') ?? null),
        after: requests.map(({ after }) => after),
        counted_from: requests.map(({ counted }) => counted?.start ?? null),
        counted_to: requests.map(({ counted }) => counted?.up_to ?? null),
        limits: requests.map(({ limit }) => limit),
      });
      const byPlace = new Map(rows.map((row) => [row.place, row]));
      return requests.map((_, index) => byPlace.get(index + 1));
    },
  }),
);
