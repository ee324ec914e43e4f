import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';

/** What the service owes: the name of a job, and whom or what it is about. */
interface PendingJob {
  job: string;
  subject_id: string;
  attempts: number;
  created_at: string;
}

/** The jobs that the service owes now. */
async function readPendingJobs(url: string): Promise<PendingJob[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<PendingJob>(
      'select job, subject_id, attempts, created_at from outbox',
    );
    return rows;
  } finally {
    await client.end();
  }
}

/** How many jobs the service owes now. */
export async function listPendingJobs(url: string): Promise<number> {
  return (await readPendingJobs(url)).length;
}

/**
 * What the service owes now and still owes when it is given up, in words. One look is not enough: receipts, which are gathered and
 * written later than what they are for, are events with jobs of their own, and may come right before it.
 */
export async function waitForEmptyOutbox(url: string, giveUp: AbortSignal): Promise<string[]> {
  const key = ({ job, subject_id }: PendingJob) => `${job} ${subject_id}`;
  let left = await readPendingJobs(url);
  while (left.length > 0 && !giveUp.aborted) {
    await pause(100);
    const now = new Map((await readPendingJobs(url)).map((owed) => [key(owed), owed]));
    left = left.flatMap((owed) => now.get(key(owed)) ?? []);
  }
  return left.map(
    ({ job, subject_id, attempts, created_at }) =>
      `${job} of ${subject_id} for ${Date.now() - Number(created_at)} ms, brought again ${attempts} times`,
  );
}
