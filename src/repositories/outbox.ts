import { type Queryable, statement, unseen } from './queryable.ts';

export interface OutboxRow {
  job: string;
  subject_id: string;
  attempts: number;
  created_at: number;
}

const statements = {
  /** A plan for all values counts with ten subjects: a connection that began with fewer planned for them at each call, however many came later. */
  settle: statement(
    'outbox.settle',
    `delete from outbox where job = ${unseen('$1', 'text')} and subject_id = any(${unseen('$2', 'text[]')})`,
  ),
  /** Overdue rows, each put off by twice its last delay, so that a long outage does not fill the queue with copies. */
  takeDue: statement(
    'outbox.take_due',
    `update outbox o
     set attempts = attempts + 1, due_at = $1 + least($2::bigint * (2 ^ least(attempts + 1, 16))::bigint, $3::bigint)
     from (select job, subject_id from outbox where due_at <= $1 order by due_at limit $4 for update skip locked) due
     where o.job = due.job and o.subject_id = due.subject_id
     returning o.job, o.subject_id, o.attempts, o.created_at`,
  ),
  age: statement('outbox.age', 'select count(*)::int as rows, min(created_at) as oldest from outbox'),
};

export function outboxRepository(db: Queryable) {
  return {
    /** The jobs are done: nothing is owed for these subjects any more. */
    async settle(job: string, subjectIds: readonly string[]): Promise<void> {
      await db.query(statements.settle, [job, subjectIds]);
    },
    /** Claims overdue rows for another try. All times in milliseconds. */
    takeDue(now: number, delay: { first: number; longest: number }, limit: number): Promise<OutboxRow[]> {
      return db.query<OutboxRow>(statements.takeDue, [now, delay.first, delay.longest, limit]);
    },
    /** How many jobs are owed and since when. */
    async age(): Promise<{ rows: number; oldest: number | null }> {
      const [row] = await db.query<{ rows: number; oldest: number | null }>(statements.age, []);
      return row ?? { rows: 0, oldest: null };
    },
  };
}
