import { type Statement, statement } from './queryable.ts';

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
 * possible, so that a busy agent is held for one round trip only. Answers the new last number of each agent concerned, all in one row:
 * a message may have hundreds of recipients.
 */
const commit = statement(
  'commit',
  `with recipient as (
     select agent_id, event_id, step from unnest($7::text[], $8::text[], $9::int[]) r (agent_id, event_id, step)
   ), event as (
     insert into events (id, type, thread_id, message_id, data, recipients, created_at, traceparent)
     select id, type, thread_id, message_id, data, coalesce(r.agents, '{}'), $6::bigint, traceparent
     from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::jsonb[], $18::text[]) e (id, type, thread_id, message_id, data, traceparent)
     left join (select event_id, array_agg(agent_id) as agents from recipient group by event_id) r on r.event_id = e.id
   ), locked as (
     select agent_id, last_number from feed_heads where agent_id = any($10) order by agent_id for no key update
   ), head as (
     update feed_heads h set last_number = l.last_number + g.steps
     from locked l join unnest($10::text[], $11::int[]) g (agent_id, steps) using (agent_id)
     where h.agent_id = l.agent_id
     returning h.agent_id, h.last_number, g.steps
   ), letter as (
     insert into feed (agent_id, number, event_id)
     select r.agent_id, l.last_number + r.step, r.event_id from recipient r join locked l using (agent_id)
   ), job as (
     insert into outbox (job, subject_id, due_at, created_at)
     select job, subject_id, $6::bigint + $14::bigint, $6::bigint from unnest($12::text[], $13::text[]) j (job, subject_id)
   ), key as (
     insert into idempotency_keys (key_hash, request_hash, answer, created_at)
     select key_hash, request_hash, answer, $6::bigint
     from unnest($15::bytea[], $16::bytea[], $17::text[]) k (key_hash, request_hash, answer)
   )
   select coalesce(json_object_agg(agent_id, last_number), '{}') as heads from head where steps > 0`,
);

/** What the statement answers: the new last number of each agent concerned. */
export interface CommitAnswer {
  heads: Record<string, number>;
}

/** The statement and its values, to be sent together with COMMIT. */
export function commitStatement(record: CommitRecord): { statement: Statement; values: unknown[] } {
  const { events, entries, touched, jobs, keys } = record;
  const steps = new Map<string, number>();
  const places = entries.map(({ agent_id }) => {
    const step = (steps.get(agent_id) ?? 0) + 1;
    steps.set(agent_id, step);
    return step;
  });
  for (const agent_id of touched) if (!steps.has(agent_id)) steps.set(agent_id, 0);
  return {
    statement: commit,
    values: [
      events.map((event) => event.id),
      events.map((event) => event.type),
      events.map((event) => event.thread_id),
      events.map((event) => event.message_id),
      events.map((event) => event.data),
      record.now,
      entries.map((entry) => entry.agent_id),
      entries.map((entry) => entry.event_id),
      places,
      [...steps.keys()],
      [...steps.values()],
      jobs.map((job) => job.job),
      jobs.map((job) => job.subject_id),
      record.job_grace,
      keys.map((key) => key.key_hash),
      keys.map((key) => key.request_hash),
      keys.map((key) => key.answer),
      events.map((event) => event.traceparent),
    ],
  };
}
