import { type Queryable, statement, hideFromPlanner, query } from '../queryable.ts';

export interface OutboxRow {
  job: string;
  subject_id: string;
  attempts: number;
  created_at: number;
}

const statements = {
  /** A plan for all values counts with ten subjects: a connection that began with fewer planned for them at each call, however many came later. */
  complete: statement(
    'outbox.settle',
    `delete from outbox where job = ${hideFromPlanner(':job', 'text')} and subject_id = any(${hideFromPlanner(':subject_ids', 'text[]')})`,
  ),
  /** Overdue rows, each put off by twice its last delay, so that a long outage does not fill the queue with copies. */
  claimDue: statement(
    'outbox.take_due',
    `update outbox o
     set attempts = attempts + 1, due_at = :now + least(:first_delay_ms::bigint * (2 ^ least(attempts + 1, 16))::bigint, :max_delay_ms::bigint)
     from (select job, subject_id from outbox where due_at <= :now order by due_at limit :limit for update skip locked) due
     where o.job = due.job and o.subject_id = due.subject_id
     returning o.job, o.subject_id, o.attempts, o.created_at`,
  ),
  readAge: statement('outbox.age', 'select count(*)::int as rows, min(created_at) as oldest from outbox'),
};

export function outboxRepository(db: Queryable) {
  return {
    /** The jobs are done: nothing is owed for these subjects any more. */
    async complete(job: string, subjectIds: readonly string[]): Promise<void> {
      await query(db, statements.complete, { job, subject_ids: subjectIds });
    },
    /** Claims overdue rows for another try. All times in milliseconds. */
    claimDue(now: number, delay: { first: number; longest: number }, limit: number): Promise<OutboxRow[]> {
      return query<OutboxRow>(db, statements.claimDue, {
        now,
        first_delay_ms: delay.first,
        max_delay_ms: delay.longest,
        limit,
      });
    },
    /** How many jobs are owed and since when. */
    async readAge(): Promise<{ rows: number; oldest: number | null }> {
      const [row] = await query<{ rows: number; oldest: number | null }>(db, statements.readAge, {});
      return row ?? { rows: 0, oldest: null };
    },
  };
}
