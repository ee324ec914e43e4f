import { expect, onTestFinished, test, vi } from 'vitest';
import { migrateBack, migrateForward } from '../../../src/platform/database/migrations.ts';
import { connectTo, createTestDatabase } from '../../support/servers/postgres/database.ts';

const columns = 'sender_id, recipient_id, day::int, messages, bytes::int, stopped_loops';

/** Undoes the migrations down to 0068, with it. */
async function undo0068(url: string): Promise<void> {
  for (let [name] = await migrateBack(url); !name?.startsWith('0068-'); [name] = await migrateBack(url))
    expect(name).toBeDefined();
}

/** A database before migration 0068, and a way to connect to it. */
async function openOldDatabase() {
  const { url, drop } = await createTestDatabase();
  onTestFinished(drop);
  await undo0068(url);
  async function connect() {
    return connectTo(url);
  }
  return { url, connect };
}

test('usage by pairs of agents is converted without a change of any sum, and back', async () => {
  const { url, connect } = await openOldDatabase();
  const client = await connect();
  await client.query(`
    insert into usage_days (sender_id, recipient_id, day, messages, bytes, stopped_loops) values
      ('a', '', 0, 3, 30, 0), ('a', 'b', 0, 3, 30, 2), ('a', 'c', 0, 2, 20, 0),
      ('b', '', 0, 1, 5, 0), ('b', 'a', 0, 1, 5, 0), ('c', 'a', 1, 0, 0, 4), ('d', '', 1, 1, 7, 0)`);
  const before = (await client.query(`select ${columns} from usage_days order by 1, 3, 2`)).rows;
  expect(before).toHaveLength(7);
  expect(await migrateForward(url)).toContain('0068-usage-by-recipients');
  const sums = await client.query(
    `select sender_id, sum(messages)::int as messages, sum(bytes)::int as bytes from usage_days group by 1 order by 1`,
  );
  expect(sums.rows).toEqual([
    { sender_id: 'a', messages: 3, bytes: 30 },
    { sender_id: 'b', messages: 1, bytes: 5 },
    { sender_id: 'c', messages: 0, bytes: 0 },
    { sender_id: 'd', messages: 1, bytes: 7 },
  ]);
  await undo0068(url);
  const after = (await client.query(`select ${columns} from usage_days order by 1, 3, 2`)).rows;
  expect(after).toEqual(before);
});

test('the migration waits for a worker that counts, in both directions', async () => {
  const { url, connect } = await openOldDatabase();
  const [worker, observer] = [await connect(), await connect()];
  async function migrateDuring(insert: string, migrate: () => Promise<unknown>): Promise<void> {
    await worker.query(`begin; ${insert}`);
    const migrated = migrate();
    await vi.waitFor(async () => {
      const waiting = await observer.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      expect(waiting.rowCount).toBe(1);
    }, 20_000);
    await worker.query('commit');
    await migrated;
  }
  await migrateDuring(
    `insert into usage_days (sender_id, recipient_id, day, messages) values ('a', '', 0, 1), ('a', 'b', 0, 1)`,
    () => migrateForward(url),
  );
  await migrateDuring(
    `insert into usage_days (sender_id, day, recipients_hash, recipients, messages) values ('c', 0, '', '{d}', 1)`,
    () => undo0068(url),
  );
  const { rows } = await observer.query(
    `select sender_id, recipient_id, messages from usage_days order by 1, 2`,
  );
  expect(rows).toEqual([
    { sender_id: 'a', recipient_id: '', messages: 1 },
    { sender_id: 'a', recipient_id: 'b', messages: 1 },
    { sender_id: 'c', recipient_id: '', messages: 1 },
    { sender_id: 'c', recipient_id: 'd', messages: 1 },
  ]);
});
