import { dayMs, startOfDay, type Usage } from '../../../packages/core/src/domain/usage.ts';
import { hideFromPlanner, unflushedCommit } from '../queryable.ts';
import { repository, sql } from '../sql.ts';
import { forReader, onlyRow } from './conversations.ts';

/** The usage of an agent, or with a counterpart. Null: all that are not listed. */
export interface UsageOfAgent extends Usage {
  agent: { id: string; canonical_handle: string } | null;
}

export interface UsageRows {
  /** Days (ms) with usage, in order. */
  days: (Usage & { day: number })[];
  /** The reader's agents with usage, most bytes first. */
  agents: UsageOfAgent[];
  /** The agents that they wrote with, most bytes first. */
  counterparts: UsageOfAgent[];
}

export interface UsageFilter {
  /** Id or canonical handle of one of the reader's agents. */
  agent: string | null;
  /** Id or canonical handle of another agent. */
  counterpart: string | null;
  /** The first day (ms). */
  since: number;
  /** The number of listed agents and counterparts. */
  top: number;
}

/** A message that the loop guard refused, to the sender of the last message. */
export interface StoppedLoop {
  sender_id: string;
  recipient_id: string;
}

const sums = `coalesce(sum(sent_messages), 0)::bigint as sent_messages, coalesce(sum(sent_bytes), 0)::bigint as sent_bytes,
  coalesce(sum(received_messages), 0)::bigint as received_messages, coalesce(sum(received_bytes), 0)::bigint as received_bytes,
  coalesce(sum(stopped_loops), 0)::bigint as stopped_loops`;

const usageFields = `'sent', json_build_object('messages', sent_messages, 'bytes', sent_bytes),
  'received', json_build_object('messages', received_messages, 'bytes', received_bytes), 'stopped_loops', stopped_loops`;

/** Sums by agent: the `top` ones, and the others as one row without an id. */
const ranked = (sumsById: string): string =>
  `select id, place, ${sums} from (
     select case when place <= :top then id end as id, least(place, :top::int + 1) as place,
       sent_messages, sent_bytes, received_messages, received_bytes, stopped_loops
     from (select *, row_number() over (order by sent_bytes + received_bytes desc, id)::int as place from (${sumsById}) s) p
   ) q group by id, place`;

const listed = (table: string): string =>
  `(select coalesce(json_agg(json_build_object(
      'agent', case when a.id is null then null else json_build_object('id', a.id, 'canonical_handle', a.canonical_handle) end, ${usageFields})
      order by place), '[]')
    from ${table} r left join agents a on a.id = r.id)`;

/** Of recipients in the order of their ids: they are too long for an index. */
const hashOf = (recipients: string): string =>
  `sha256(convert_to(array_to_string(${recipients}, ','), 'UTF8'))`;

const addToRows = `on conflict (sender_id, day, recipients_hash) do update set
  messages = usage_days.messages + excluded.messages, bytes = usage_days.bytes + excluded.bytes,
  stopped_loops = usage_days.stopped_loops + excluded.stopped_loops`;

/** Messages and bytes by day (UTC), sender and set of recipients. */
export const usageRepository = repository({
  /**
   * Completes jobs (outbox rows) about events, and counts the messages that the events announce. Removes completed jobs and counts their
   * messages in one statement, so that each is counted once, however often a job runs. Rows are written in the order of their keys, so
   * that two workers never deadlock. The members include the sender; erased agents do not count. The lists of members repeat, so they
   * are compared before they are searched. `offset 0` makes the planner look up events and messages by key.
   */
  complete: sql.run<[job: string, subjectIds: readonly string[]]>(
    'usage.complete(job, subject_ids)',
    `with done as (
         delete from outbox using ${unflushedCommit} where job = ${hideFromPlanner(':job', 'text')} and subject_id = any(:subject_ids::text[])
           and (more_ids is null or more_ids <@ :subject_ids::text[])
         returning subject_id, more_ids
       ), event as materialized (
         select unnest(array[subject_id] || more_ids) as id from done
       ), sent as materialized (
         select m.sender_id, m.created_at - m.created_at % ${dayMs} as day, octet_length(m.content) as bytes, e.recipients as members
         from event
         cross join lateral (select * from events where id = event.id offset 0) e
         cross join lateral (select * from messages where id = e.message_id offset 0) m
         where e.type = 'message.created'
       ), audience as materialized (
         select members, array(
             select member from unnest(members) member where not exists (select from erasures where agent_id = member) order by member collate "C") as ids
         from (select distinct members from sent) s
       ), counted as materialized (
         select sender_id, day, array_remove(ids, sender_id) as recipients, count(*) as messages, sum(bytes) as bytes
         from sent join audience using (members)
         where sender_id = any(ids)
         group by sender_id, day, ids
       )
       insert into usage_days (sender_id, day, recipients_hash, recipients, messages, bytes)
       select sender_id, day, ${hashOf('recipients')} as hash, recipients, messages, bytes from counted order by sender_id collate "C", day, hash
       ${addToRows}`,
  ),
  /** Counts messages that the loop guard refused at a time (ms). */
  addStoppedLoops: sql.run<[loops: readonly StoppedLoop[], now: number]>(
    'usage.add_stopped_loops',
    `insert into usage_days (sender_id, day, recipients_hash, recipients, stopped_loops)
       select sender_id, :day::bigint, ${hashOf('array[recipient_id]')} as hash, array[recipient_id], count(*)
       from unnest(:sender_ids::text[], :recipient_ids::text[]) l (sender_id, recipient_id)
       where not exists (select from erasures where agent_id in (sender_id, recipient_id))
       group by sender_id, recipient_id order by sender_id collate "C", hash
       ${addToRows}`,
    (loops, now) => ({
      sender_ids: loops.map(({ sender_id }) => sender_id),
      recipient_ids: loops.map(({ recipient_id }) => recipient_id),
      day: startOfDay(now),
    }),
  ),
  /** Removes up to `limit` rows of days before this one (ms); returns how many. */
  removeBefore: sql.rowCount<[day: number, limit: number]>(
    'usage.remove_before(day, limit)',
    `delete from usage_days where (sender_id, day, recipients_hash) in
         (select sender_id, day, recipients_hash from usage_days where day < :day limit :limit)
       returning 1`,
  ),
  /**
   * The usage of all agents that the same people may act as. Reads the daily rows of the reader's agents by index. A row counts once for its sender, and once for each of its recipients. With a
   * counterpart, only rows that it sent or received count. `day + 0` hides the index of the days from the planner: nearly every row is of these
   * days.
   */
  read: forReader<UsageFilter, UsageRows, UsageRows>(
    'usage.read',
    (mine) => `with mine as materialized (
       select a.id from ${mine} and (:agent::text is null or a.id = :agent or a.canonical_handle = :agent)
     ), other as materialized (
       select array(select id from agents where id = :counterpart or canonical_handle = :counterpart) as ids
     ), sent as materialized (
       select u.* from other, mine cross join lateral (select * from usage_days where sender_id = mine.id and day >= :since offset 0) u
       where :counterpart::text is null or u.recipients && other.ids
     ), received as materialized (
       select mine.id as recipient_id, u.* from other, mine cross join lateral (
         select * from usage_days where recipients @> array[mine.id] and day + 0 >= :since and messages > 0 offset 0) u
       where :counterpart::text is null or u.sender_id = any(other.ids)
     ), counted as materialized (
       select sender_id as agent_id, day, messages as sent_messages, bytes as sent_bytes, 0 as received_messages, 0::bigint as received_bytes,
         stopped_loops
       from sent
       union all
       select recipient_id, day, 0, 0, messages, bytes, 0 from received
     ), counted_of_others as materialized (
       select r.id as agent_id, day, messages as sent_messages, bytes as sent_bytes, 0 as received_messages, 0::bigint as received_bytes,
         stopped_loops
       from other, sent cross join lateral unnest(recipients) r (id) where :counterpart::text is null or r.id = any(other.ids)
       union all
       select sender_id, day, 0, 0, messages, bytes, 0 from received
     ), of_days as (select day, ${sums} from counted group by day
     ), of_agents as (${ranked(`select agent_id as id, ${sums} from counted group by agent_id`)}
     ), of_counterparts as (${ranked(`select agent_id as id, ${sums} from counted_of_others group by agent_id`)}
     )
     select (select coalesce(json_agg(json_build_object('day', day, ${usageFields}) order by day), '[]') from of_days) as days,
       ${listed('of_agents')} as agents, ${listed('of_counterparts')} as counterparts`,
    onlyRow,
  ),
  /** The median time (ms) of the tasks that each agent of the reader completed since a time (ms). */
  readAnswerTimes: forReader<{ since: number }, { agent_id: string; median: number }, [string, number][]>(
    'usage.read_answer_times',
    (mine) => `with mine as materialized (select a.id from ${mine})
     select t.agent_id, percentile_cont(0.5) within group (order by t.ended_at - t.created_at) as median
     from mine join tasks t on t.agent_id = mine.id and t.updated_at >= :since
     where t.state = 'completed' and t.ended_at >= :since group by t.agent_id`,
    (rows) => rows.map(({ agent_id, median }) => [agent_id, median]),
  ),
});
