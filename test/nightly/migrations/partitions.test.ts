import pg from 'pg';
import { expect, test } from 'vitest';
import { minIdAt } from '../../../packages/core/src/domain/ids.ts';
import { openDatabase } from '../../../src/platform/database/database.ts';
import { migrateBack, migrateForward } from '../../../src/platform/database/migrations.ts';
import { partitionsRepository } from '../../../src/repositories/maintenance/partitions.ts';
import { idDaysAgo, partitionedTableNames } from '../../support/partitions.ts';
import { useConnectedDatabase } from '../../support/servers/postgres/database.ts';

const client = useConnectedDatabase();
async function rows<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
  return (await client.query<Row>(text, values)).rows;
}

async function backBehindPartitions(): Promise<void> {
  for (let undone: string | undefined; undone !== '0038-feed-partitions';)
    [undone] = await migrateBack(client.url);
}

/** All rows and indexes of a table. */
async function contentsOf(table: string) {
  const found = await rows(`select * from ${table} t order by t::text collate "C"`);
  const indexes = await rows(`select indexname from pg_indexes where tablename = '${table}' order by 1`);
  return { found, indexes };
}

/** Writes a message in a new thread, as every release does. */
async function write(db: Pick<pg.Client, 'query'>, daysAgo: number, number: number): Promise<void> {
  const [event, message] = [idDaysAgo('event', daysAgo, number), idDaysAgo('message', daysAgo, number)];
  await db.query('begin');
  await db.query(
    `insert into messages (id, thread_id, sequence, sender_id, content, content_type, created_at) values ($1, $2, 1, 'a', 'x', 'text', 1)`,
    [message, `thd_${number}`],
  );
  await db.query(
    `insert into message_search (message_id, thread_id, sender_id, document, version, created_at, indexed_at)
     values ($1, $2, 'a', '''x'':1', 1, 1, 1) on conflict (message_id) do update set version = excluded.version`,
    [message, `thd_${number}`],
  );
  await db.query(
    `insert into events (id, type, message_id, recipients, created_at) values ($1, 'message.created', $2, '{a}', 1)`,
    [event, message],
  );
  await db.query('insert into feed (agent_id, number, event_id) values ($1, $2, $3)', ['a', number, event]);
  await db.query('commit');
}

test('a database with data gets partitions during writes, and loses them again without loss of data', async () => {
  await backBehindPartitions();
  // Rows without threads and agents are enough here.
  await client.query('set session_replication_role = replica');
  for (let number = 1; number <= 50; number += 1) await write(client, 100 - number, number);
  const before = new Map<string, Awaited<ReturnType<typeof contentsOf>>>();
  for (const table of partitionedTableNames) before.set(table, await contentsOf(table));

  const writer = new pg.Client({ connectionString: client.url });
  await writer.connect();
  await writer.query('set session_replication_role = replica');
  const change = { over: false };
  let written = 50;
  const writing = (async () => {
    while (!change.over || written < 80) await write(writer, 0, (written += 1));
  })();
  await migrateForward(client.url).finally(() => {
    change.over = true;
  });
  await writing;
  await writer.end();
  for (const table of partitionedTableNames) {
    const found = await rows(
      `select tableoid::regclass::text as part, count(*)::int from ${table} group by 1`,
    );
    expect(found).toEqual([{ part: `${table}_first`, count: written }]);
  }

  // The down migration keeps the rows of later partitions.
  const database = openDatabase({ url: client.url, poolSize: 2, onError: () => undefined });
  const [first] = await partitionsRepository(database).list();
  const end = Number(new Date()) + 90 * 24 * 3_600_000;
  for (const table of partitionedTableNames) {
    const kind = table === 'events' || table === 'feed' ? 'event' : 'message';
    const from = `${kind === 'event' ? 'evt' : 'msg'}${first?.to.slice(3)}`;
    const transaction = await database.begin();
    await partitionsRepository(transaction).insert(table, { from, to: minIdAt(kind, end) });
    await transaction.commit();
  }
  await database.close();
  await write(client, -30, (written += 1));
  await backBehindPartitions();
  for (const table of partitionedTableNames) {
    const { found, indexes } = await contentsOf(table);
    expect(found).toHaveLength(written);
    expect(found).toEqual(expect.arrayContaining(before.get(table)?.found ?? []));
    expect(indexes).toEqual(before.get(table)?.indexes);
  }
  // An aborted migration has added the upper bound of the first partition; it must not refuse rows after that time.
  await client.query('create table events_first ()');
  await expect(migrateForward(client.url)).rejects.toThrow(/"events_first" already exists/);
  expect(await rows(`select conname from pg_constraint where conname = 'events_first_end'`)).toEqual([]);
  await client.query('drop table events_first');
  await migrateForward(client.url);
  for (const table of partitionedTableNames) expect((await contentsOf(table)).found).toHaveLength(written);
});
