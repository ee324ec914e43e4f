import type { Wakeup } from '../domain/feed/wakeups.ts';
import { type Statement, statement, hideFromPlanner } from '../repositories/queryable.ts';

/** What a unit of work leaves behind besides its rows, written by one statement that travels with COMMIT. */
export interface CommitRecord {
  now: number;
  events: {
    id: string;
    type: string;
    thread_id: string | null;
    message_id: string | null;
    data: string | null;
    /** The trace that it is a part of (W3C Trace Context). */
    traceparent: string | null;
  }[];
  /** Which agent gets which event; within one agent in this order. */
  entries: { agent_id: string; event_id: string }[];
  /**
   * Who did this and is told nothing of it. Its head gets a new version all the same, by which a replica shows whether it has replayed
   * this.
   */
  touched: readonly string[];
  jobs: { job: string; subject_id: string }[];
  /** Milliseconds after which the sweep takes care of a job that nobody did. */
  job_grace: number;
  /** Idempotency keys, each with what is answered under it. */
  keys: { key_hash: Buffer; request_hash: Buffer; answer: string }[];
}

/**
 * Heads are locked in the order of their ids, so that two units of work never wait for each other in a circle, and as late as
 * possible, so that a busy agent is held for one round trip only. Each agent has a head, so none is ever inserted: the conflict finds it by
 * its key, locks it and moves it in one step, whatever the planner thinks of the table. An id that is no agent fails the commit.
 *
 * Answers the new last number of each agent concerned, all in one row: a message may have hundreds of recipients. For their sake ids
 * travel once, in one piece of text, and what is to be joined is told by its place among them. How many they are is hidden from the
 * planner: a plan for two promised to be cheaper, and was made at each commit.
 */
const commit = statement(
  'commit',
  `with agent as materialized (
     select agent_id, steps, place
     from unnest(string_to_array(${hideFromPlanner('$10', 'text')}, ','), ${hideFromPlanner('$11', 'int[]')}) with ordinality a (agent_id, steps, place)
   ), told as materialized (
     select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::jsonb[], $18::text[])
       with ordinality e (id, type, thread_id, message_id, data, traceparent, place)
   ), recipient as materialized (
     select agent_place, event_place, step
     from unnest(${hideFromPlanner('$7', 'int[]')}, ${hideFromPlanner('$8', 'int[]')}, ${hideFromPlanner('$9', 'int[]')}) r (agent_place, event_place, step)
   ), event as (
     insert into events (id, type, thread_id, message_id, data, recipients, created_at, traceparent)
     select id, type, thread_id, message_id, data, coalesce(r.agents, '{}'), $6::bigint, traceparent
     from told left join (
       select event_place, array_agg(agent_id) as agents from recipient join agent on place = agent_place group by event_place
     ) r on event_place = place
   ), head as (
     insert into feed_heads as h (agent_id, last_number) select agent_id, steps from agent order by agent_id collate "C"
     on conflict (agent_id) do update set last_number = h.last_number + excluded.last_number returning agent_id, last_number
   ), grown as materialized (
     select place, last_number, last_number - steps as before, agent_id from head join agent using (agent_id)
   ), letter as (
     insert into feed (agent_id, number, event_id)
     select g.agent_id, g.before + r.step, e.id
     from recipient r join grown g on g.place = r.agent_place join told e on e.place = r.event_place
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

/** What the statement answers. */
export interface CommitAnswer {
  /** The new last number of each agent concerned; null when it concerns nobody. */
  ends: number[] | null;
}

interface Commit {
  /** To be sent together with COMMIT. */
  statement: Statement;
  values: unknown[];
  /** How far the feeds go that have grown. */
  readCounters(answer: CommitAnswer | undefined): Wakeup[];
}

/** What writes a record, and reads what is answered. */
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

/** Numbers as PostgreSQL reads them. pg writes them one by one: 34 µs for 200 of them instead of 9. */
function toArrayLiteral(numbers: readonly number[]): string {
  return `{${numbers.join(',')}}`;
}

/** Tells the places of ids, each once, as PostgreSQL counts them: from 1 on. An entry without a place would be lost without a word. */
function indexIds(ids: readonly string[]): (id: string) => number {
  const places = new Map(ids.map((id, at) => [id, at + 1]));
  return (id) => {
    const place = places.get(id);
    if (place === undefined) throw new Error(`${id} is no part of what is committed`);
    return place;
  };
}
