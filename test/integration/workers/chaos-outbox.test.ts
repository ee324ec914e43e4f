import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { listPendingJobs, waitForEmptyOutbox } from '../../../chaos/outbox.ts';
import { createTestDatabase } from '../../support/servers/postgres/database.ts';

async function outbox() {
  const database = await createTestDatabase();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  onTestFinished(async () => {
    await client.end();
    await database.drop();
  });
  return {
    url: database.url,
    owe: (subject: string) =>
      client.query('insert into outbox (job, subject_id, due_at, created_at) values ($1, $2, 0, 0)', [
        'deliver-events',
        subject,
      ]),
    settle: (subject: string) => client.query('delete from outbox where subject_id = $1', [subject]),
  };
}

test('jobs that are pending only briefly do not count as lost, even if others are pending later', async () => {
  const { url, owe, settle } = await outbox();
  await owe('evt_1');
  const over = new AbortController();
  onTestFinished(() => over.abort());
  const left = waitForEmptyOutbox(url, over.signal);
  // The first check may see this job, and the next one the other job; both finish.
  await owe('evt_2');
  await settle('evt_1');
  await settle('evt_2');
  expect(await left).toEqual([]);
  expect(await listPendingJobs(url)).toBe(0);
});

test('jobs that are still pending at the timeout are listed', async () => {
  const { url, owe } = await outbox();
  await owe('evt_1');
  const left = await waitForEmptyOutbox(url, AbortSignal.timeout(500));
  expect(left).toEqual([expect.stringMatching(/^deliver-events of evt_1 for \d+ ms, 0 attempts$/)]);
});
