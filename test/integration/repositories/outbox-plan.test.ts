import pg from 'pg';
import { expect, test } from 'vitest';
import { newId } from '../../../packages/core/src/domain/ids.ts';
import { outboxRepository } from '../../../src/repositories/maintenance/outbox.ts';
import type { Queryable, Statement } from '../../../src/repositories/queryable.ts';
import { createTestDatabase } from '../../support/servers/postgres/database.ts';

test('a connection that completes few jobs at a time plans the statement once', async () => {
  const database = await createTestDatabase();
  const client = new pg.Client({ connectionString: database.url });
  try {
    await client.connect();
    await client.query(
      `insert into outbox (job, subject_id, due_at, created_at) select 'deliver', 'evt_' || n, 0, 0 from generate_series(1, 2000) n`,
    );
    await client.query('analyze outbox');
    const db: Queryable = {
      query: async <Row extends object>(statement: Statement, values: readonly unknown[]) =>
        (await client.query<Row>({ ...statement, values: [...values] })).rows,
    };
    const outbox = outboxRepository(db);
    await outbox.complete('deliver', ['evt_1', 'evt_2']);
    expect((await outbox.readAge()).rows).toBe(1_998);
    for (let count = 0; count < 8; count += 1) await outbox.complete('deliver', [newId('event')]);
    const { rows } = await client.query(
      `select generic_plans > 0 as once from pg_prepared_statements where name = 'outbox.complete'`,
    );
    expect(rows).toEqual([{ once: true }]);
  } finally {
    await client.end();
    await database.drop();
  }
});
