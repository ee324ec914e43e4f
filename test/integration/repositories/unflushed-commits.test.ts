import { expect, test } from 'vitest';
import { newId } from '../../../packages/core/src/domain/ids.ts';
import { outboxRepository } from '../../../src/repositories/maintenance/outbox.ts';
import { messageSearchRepository } from '../../../src/repositories/messages/search.ts';
import type { Queryable } from '../../../src/repositories/queryable.ts';
import { usageRepository } from '../../../src/repositories/threads/usage.ts';
import { openDatabase } from '../../../src/platform/database/database.ts';
import { createTestDatabase } from '../../support/servers/postgres/database.ts';

/** A statement that completes nothing has nothing to commit. */
async function insertJob(db: Queryable): Promise<string> {
  const id = newId('event');
  const text = `insert into outbox (job, subject_id, due_at, created_at) values ('job', $1, 0, 0)`;
  await db.query({ text }, [id]);
  return id;
}

const runs: Record<string, (db: Queryable) => Promise<unknown>> = {
  'the completion of jobs': async (db) => outboxRepository(db).complete('job', [await insertJob(db)]),
  'the completion and count of deliveries': async (db) =>
    usageRepository(db).complete('job', [await insertJob(db)]),
  'the writing of search rows': (db) => messageSearchRepository(db).index([], 1, 0),
  'the replacement of search rows': (db) => messageSearchRepository(db).replace([], 1, 0),
};

test.each(Object.entries(runs))('%s does not wait for the disk, and what follows does', async (_, run) => {
  const { url } = await createTestDatabase();
  const database = openDatabase({ url, poolSize: 1, onError: () => undefined });
  const show = { text: `select current_setting('synchronous_commit') as value` };
  try {
    // The test server has it off.
    await database.query({ text: 'set synchronous_commit = on' }, []);
    const transaction = await database.begin();
    await run(transaction);
    expect(await transaction.query(show, [])).toEqual([{ value: 'off' }]);
    await transaction.rollback();
    await run(database);
    expect(await database.query(show, [])).toEqual([{ value: 'on' }]);
  } finally {
    await database.close();
  }
});
