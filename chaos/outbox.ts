import pg from 'pg';
import type { StoredTask } from './history.ts';

/** A job in the outbox, and the id of its object. */
interface PendingJob {
  job: string;
  subject_id: string;
  attempts: number;
  created_at: string;
}

async function query<Row extends object>(url: string, text: string, values: unknown[] = []): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(text, values)).rows;
  } finally {
    await client.end();
  }
}

/** Counts the items of inboxes that were acknowledged, and whose handled marks did not move yet. */
export async function countUnmovedItems(url: string): Promise<number> {
  return (await query(url, "select 1 from inbox_items where state = 'handled'")).length;
}

/** Describes the jobs in the outbox. */
export async function listPendingJobs(url: string): Promise<string[]> {
  const jobs = await query<PendingJob>(url, 'select job, subject_id, attempts, created_at from outbox');
  return jobs.map(
    ({ job, subject_id, attempts, created_at }) =>
      `${job} of ${subject_id} for ${Date.now() - Number(created_at)} ms, ${attempts} attempts`,
  );
}

/** Reads the tasks of clients with their changes. */
export function readStoredTasks(url: string, clientIds: readonly string[]): Promise<StoredTask[]> {
  return query(
    url,
    `select t.id, t.thread_id, t.message_id, t.client_id, t.agent_id, t.state, t.generation, t.lease_token::float8, h.has_questions,
       array(select k.message_id from task_messages k where k.task_id = t.id) as message_ids,
       (select json_agg(json_build_object('generation', u.generation, 'change', u.change, 'state', u.state, 'message_id', u.message_id,
          'by_id', u.by_id) order by u.generation) from task_updates u where u.task_id = t.id) as updates
     from tasks t join threads h on h.id = t.thread_id where t.client_id = any($1)`,
    [clientIds],
  );
}
