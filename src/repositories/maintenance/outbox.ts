import { hideFromPlanner, unflushedCommit } from '../queryable.ts';
import { repository, sql } from '../sql.ts';

export interface OutboxRow {
  job: string;
  subject_id: string;
  /** The subjects after the first one. */
  more_ids: string[] | null;
  attempts: number;
  created_at: number;
}

export const outboxRepository = repository({
  /**
   * Removes completed jobs: rows whose subjects are all among these. The generic plan expects ten subjects. Without hidden values, a
   * connection that begins with fewer would plan on each call. A job whose completion is lost runs again.
   */
  complete: sql.run<[job: string, subjectIds: readonly string[]]>(
    'outbox.complete(job, subject_ids)',
    `delete from outbox using ${unflushedCommit} where job = ${hideFromPlanner(':job', 'text')} and subject_id = any(:subject_ids::text[])
       and (more_ids is null or more_ids <@ :subject_ids::text[])`,
  ),
  /** Gives each subject of the rows that begin with one of these a row of its own. Each id gets the state of its row. */
  split: sql.run<[job: string, subjectIds: readonly string[]]>(
    'outbox.split(job, subject_ids)',
    `with joined as materialized (
       select * from outbox where job = :job and subject_id = any(:subject_ids::text[]) and more_ids is not null
       order by subject_id for update
     ), first as (
       update outbox o set more_ids = null from joined j where o.job = j.job and o.subject_id = j.subject_id
     )
     insert into outbox (job, subject_id, attempts, due_at, created_at)
     select job, id, attempts, due_at, created_at from joined cross join unnest(more_ids) id
     on conflict (job, subject_id) do nothing`,
  ),
  /**
   * Claims overdue jobs with these names, after a row, for another attempt, in the order of their keys. Others are those of a newer release. Times are in milliseconds. The delay of a row is
   * doubled from `first` to `max`, so that a long outage does not fill the queue with copies. No index has the times: each commit would
   * write to it, and a sweep reads each row once.
   */
  claimDue: sql.rows<
    [
      after: Pick<OutboxRow, 'job' | 'subject_id'> & { names: readonly string[] } & Record<
          'now' | 'first' | 'max' | 'limit',
          number
        >,
    ],
    OutboxRow
  >(
    'outbox.claim_due',
    `with due as materialized (
       select job, subject_id from outbox where (job, subject_id) > (:job::text, :subject_id::text) and job = any(:names::text[]) and due_at <= :now
       order by job, subject_id limit :limit for update skip locked
     ), claimed as (
       update outbox o
       set attempts = attempts + 1, due_at = :now + least(:first::bigint * (2 ^ least(attempts + 1, 16))::bigint, :max::bigint)
       from due where o.job = due.job and o.subject_id = due.subject_id
       returning o.job, o.subject_id, o.more_ids, o.attempts, o.created_at
     )
     select * from claimed order by job, subject_id`,
  ),
  /** The number of jobs, and when the oldest was created (ms). */
  readAge: sql.single<[], { rows: number; oldest: number | null }>(
    'outbox.read_age',
    'select count(*)::int as rows, min(created_at) as oldest from outbox',
  ),
});
