import type { Wakeup } from '../domain/feed/wakeups.ts';
import { type Statement, statement, hideFromPlanner } from '../repositories/queryable.ts';

/** What a unit of work writes besides its rows. One statement, sent together with COMMIT, writes all of it. */
export interface CommitRecord {
  now: number;
  events: {
    id: string;
    type: string;
    thread_id: string | null;
    message_id: string | null;
    data: string | null;
    /** W3C Trace Context. */
    traceparent: string | null;
  }[];
  /** Which agent gets which event, in the order of its feed. */
  entries: { agent_id: string; event_id: string }[];
  /**
   * Agents that get no entry, but whose feed counter gets a new row version. A replica sees by the version whether it has replayed this
   * commit.
   */
  touched: readonly string[];
  jobs: { job: string; subject_id: string }[];
  /** Milliseconds until the outbox sweep enqueues a job again that no worker has done. */
  job_grace: number;
  /** Idempotency keys with their stored answers. */
  keys: { key_hash: Buffer; request_hash: Buffer; answer: string }[];
}

/**
 * Locks the feed counters in the order of the agent ids, so that two commits cannot deadlock, and in the last statement, so that a busy
 * agent is locked for one round trip only. Every agent has a counter, so `insert … on conflict` never inserts: it finds the row by its key,
 * locks and updates it in one step, whatever the planner estimates. An id that is no agent fails the commit.
 *
 * Returns the new last number of each agent in one row. A message can have hundreds of recipients: ids are sent once, in one text, and the
 * other arrays refer to them by place. The number of ids is hidden from the planner, which otherwise plans again at each commit.
 */
const commit = statement(
  'commit',
  `with agent as materialized (
     select agent_id, steps, place
     from unnest(string_to_array(${hideFromPlanner('$10', 'text')}, ','), ${hideFromPlanner('$11', 'int[]')}) with ordinality a (agent_id, steps, place)
   ), new_event as materialized (
     select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::jsonb[], $18::text[])
       with ordinality e (id, type, thread_id, message_id, data, traceparent, place)
   ), recipient as materialized (
     select agent_place, event_place, step
     from unnest(${hideFromPlanner('$7', 'int[]')}, ${hideFromPlanner('$8', 'int[]')}, ${hideFromPlanner('$9', 'int[]')}) r (agent_place, event_place, step)
   ), event as (
     insert into events (id, type, thread_id, message_id, data, recipients, created_at, traceparent)
     select id, type, thread_id, message_id, data, coalesce(r.agents, '{}'), $6::bigint, traceparent
     from new_event left join (
       select event_place, array_agg(agent_id) as agents from recipient join agent on place = agent_place group by event_place
     ) r on event_place = place
   ), counter as (
     insert into feed_heads as h (agent_id, last_number) select agent_id, steps from agent order by agent_id collate "C"
     on conflict (agent_id) do update set last_number = h.last_number + excluded.last_number returning agent_id, last_number
   ), grown as materialized (
     select place, last_number, last_number - steps as before, agent_id from counter join agent using (agent_id)
   ), entry as (
     insert into feed (agent_id, number, event_id)
     select g.agent_id, g.before + r.step, e.id
     from recipient r join grown g on g.place = r.agent_place join new_event e on e.place = r.event_place
   ), job as (
     insert into outbox (job, subject_id, due_at, created_at)
     select job, subject_id, $6::bigint + $14::bigint, $6::bigint from unnest($12::text[], $13::text[]) j (job, subject_id)
   ), key as (
     insert into idempotency_keys (key_hash, request_hash, answer, created_at)
     select key_hash, request_hash, answer, $6::bigint
     from unnest($15::bytea[], $16::bytea[], $17::text[]) k (key_hash, request_hash, answer)
   )
   select json_agg(last_number order by place) as ends from grown`,
);

export interface CommitAnswer {
  /** The new last number of each agent, in order; null without agents. */
  ends: number[] | null;
}

interface Commit {
  statement: Statement;
  values: unknown[];
  /** The new last numbers of the feeds that got entries. */
  readCounters(answer: CommitAnswer | undefined): Wakeup[];
}

/** The statement that writes a record, its values, and a function that reads its result. */
export function commitStatement(record: CommitRecord): Commit {
  const { events, entries, touched, jobs, keys } = record;
  const agents = [...new Set([...entries.map(({ agent_id }) => agent_id), ...touched])];
  const placeOfAgent = indexIds(agents);
  const placeOfEvent = indexIds(events.map(({ id }) => id));
  /** How many entries each agent gets. */
  const steps = agents.map(() => 0);
  const placed = entries.map(({ agent_id, event_id }) => {
    const agent = placeOfAgent(agent_id);
    const step = (steps[agent - 1] ?? 0) + 1;
    steps[agent - 1] = step;
    return { agent, event: placeOfEvent(event_id), step };
  });
  return {
    statement: commit,
    values: [
      events.map((event) => event.id),
      events.map((event) => event.type),
      events.map((event) => event.thread_id),
      events.map((event) => event.message_id),
      events.map((event) => event.data),
      record.now,
      toArrayLiteral(placed.map(({ agent }) => agent)),
      toArrayLiteral(placed.map(({ event }) => event)),
      toArrayLiteral(placed.map(({ step }) => step)),
      agents.join(','),
      toArrayLiteral(steps),
      jobs.map((job) => job.job),
      jobs.map((job) => job.subject_id),
      record.job_grace,
      keys.map((key) => key.key_hash),
      keys.map((key) => key.request_hash),
      keys.map((key) => key.answer),
      events.map((event) => event.traceparent),
    ],
    readCounters: (answer) =>
      agents.flatMap((agent_id, at) => {
        const last_number = answer?.ends?.[at] ?? null;
        return last_number === null || steps[at] === 0 ? [] : { agent_id, last_number };
      }),
  };
}

/** A PostgreSQL array literal. pg takes 34 µs to serialize 200 numbers; this takes 9. */
function toArrayLiteral(numbers: readonly number[]): string {
  return `{${numbers.join(',')}}`;
}

/** Returns the place of each id, from 1 as in PostgreSQL. Throws for an unknown id, whose entry the join would drop silently. */
function indexIds(ids: readonly string[]): (id: string) => number {
  const places = new Map(ids.map((id, at) => [id, at + 1]));
  return (id) => {
    const place = places.get(id);
    if (place === undefined) throw new Error(`${id} is not part of this commit`);
    return place;
  };
}
