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
  }[];
  /** Which agent gets which event; within one agent in this order. */
  entries: { agent_id: string; event_id: string }[];
  jobs: { job: string; subject_id: string }[];
  /** Milliseconds after which the sweep takes care of a job that nobody did. */
  job_grace: number;
  idempotency: { key_hash: Buffer; request_hash: Buffer; answer: string } | null;
}

/**
 * Heads are locked in the order of their ids, so that two units of work never wait for each other in a circle, and as late as
 * possible, so that a busy agent is held for one round trip only. Answers the new last number of each agent concerned.
 */
const commit = statement(
  'commit',
  `with event as (
     insert into events (id, type, thread_id, message_id, data, recipients, created_at)
     select id, type, thread_id, message_id, data,
       (select array_agg(agent_id) from unnest($7::text[], $8::text[]) r (agent_id, event_id) where r.event_id = e.id), $6::bigint
     from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::jsonb[]) e (id, type, thread_id, message_id, data)
   ), entry as (
     select agent_id, event_id, row_number() over (partition by agent_id order by position) as step,
       count(*) over (partition by agent_id) as steps
     from unnest($7::text[], $8::text[]) with ordinality x (agent_id, event_id, position)
   ), locked as (
     select agent_id from feed_heads where agent_id = any($7) order by agent_id for no key update
   ), head as (
     update feed_heads h set last_number = h.last_number + e.steps
     from locked l join (select distinct agent_id, steps from entry) e using (agent_id)
     where h.agent_id = l.agent_id
     returning h.agent_id, h.last_number, e.steps
   ), letter as (
     insert into feed (agent_id, number, event_id)
     select e.agent_id, h.last_number - h.steps + e.step, e.event_id from entry e join head h using (agent_id)
   ), job as (
     insert into outbox (job, subject_id, due_at, created_at)
     select job, subject_id, $6::bigint + $11::bigint, $6::bigint from unnest($9::text[], $10::text[]) j (job, subject_id)
   ), key as (
     insert into idempotency_keys (key_hash, request_hash, answer, created_at) select $12::bytea, $13::bytea, $14::text, $6::bigint where $12::bytea is not null
   )
   select agent_id, last_number from head`,
);

/** The statement and its values, to be sent together with COMMIT. */
export function commitStatement(record: CommitRecord): { statement: Statement; values: unknown[] } {
  const { events, entries, jobs, idempotency } = record;
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
      jobs.map((job) => job.job),
      jobs.map((job) => job.subject_id),
      record.job_grace,
      idempotency?.key_hash ?? null,
      idempotency?.request_hash ?? null,
      idempotency?.answer ?? null,
    ],
  };
}
