import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';

/** What the service owes: the name of a job, and whom or what it is about. */
interface Owed {
  job: string;
  subject_id: string;
  attempts: number;
  created_at: string;
}

/** The jobs that the service owes now. */
async function owedNow(url: string): Promise<Owed[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<Owed>('select job, subject_id, attempts, created_at from outbox');
    return rows;
  } finally {
    await client.end();
  }
}

/** How many jobs the service owes now. */
export async function owedJobs(url: string): Promise<number> {
  return (await owedNow(url)).length;
}

/**
 * What the service owes now and still owes when it is given up, in words. One look is not enough: receipts, which are gathered and
 * written later than what they are for, are events with jobs of their own, and may come right before it.
 */
export async function owedStill(url: string, giveUp: AbortSignal): Promise<string[]> {
  const key = ({ job, subject_id }: Owed) => `${job} ${subject_id}`;
  let left = await owedNow(url);
  while (left.length > 0 && !giveUp.aborted) {
    await pause(100);
    const now = new Map((await owedNow(url)).map((owed) => [key(owed), owed]));
    left = left.flatMap((owed) => now.get(key(owed)) ?? []);
  }
  return left.map(
    ({ job, subject_id, attempts, created_at }) =>
      `${job} of ${subject_id} for ${Date.now() - Number(created_at)} ms, brought again ${attempts} times`,
  );
}
