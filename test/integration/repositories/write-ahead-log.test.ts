import { expect, test } from 'vitest';
import { startPostgres } from '../../../src/embedded/postgres/start-postgres.ts';
import { migrateForward } from '../../../src/platform/database/migrations.ts';
import { describeWithRedis, startTestRedis } from '../../support/servers/redis/server.ts';
import { buildTestEnv, startService, type TestService } from '../../support/service.ts';
import { createFolder, stopAfterTest } from '../../support/use.ts';

/** What a message of 200 bytes between two agents adds to the write-ahead log. After a change that reduces it, lower these. */
const today = { bytes: 3_540, records: 27 };
const tolerance = 1.1;
const messages = 300;

/** Records of one kind; without full-page images, whose number depends on the last checkpoint. */
interface Records {
  /** A table, with its indexes; partitions count as their table. */
  table: string;
  /** Resource manager and type. */
  kind: string;
  records: number;
  bytes: number;
}

const recordsText = `
  with relation as (
    select pg_relation_filenode(c.oid) as node, coalesce(pg_partition_root(coalesce(i.indrelid, c.oid)), i.indrelid, c.oid) as id
    from pg_class c left join pg_index i on i.indexrelid = c.oid where c.relkind in ('r', 'i', 'm')),
  block as (
    select distinct on (start_lsn) start_lsn, relfilenode from pg_get_wal_block_info($1, $2, false) order by start_lsn, block_id)
  select coalesce(relation.id::regclass::text, 'no table') as table, resource_manager || ' ' || record_type as kind,
    count(*)::int as records, sum(record_length - fpi_length)::int as bytes
  from pg_get_wal_records_info($1, $2) left join block using (start_lsn) left join relation on node = relfilenode
  group by 1, 2`;

await describeWithRedis('the write-ahead log', () => {
  test('a message adds no more than today', async () => {
    const service = await startOwnService();
    const [one, other] = [await service.agent(), await service.agent()];
    const path = `/threads/${await service.thread(one, other)}/messages`;
    const send = async (number: number) => {
      const sent = await service.post(number % 2 === 0 ? one : other, path, { content: 'x'.repeat(200) });
      expect(sent.status).toBe(201);
    };
    const sendAll = async (count: number) => {
      for (let number = 0; number < count; number += 1) await send(number);
      await expect.poll(() => countJobs(service)).toBe(0);
      return readPosition(service);
    };
    // The first sends prepare statements, fill caches and extend tables.
    const from = await sendAll(20);
    const to = await sendAll(messages);
    const found = await service.sql<Records>(recordsText, [from, to]);
    const sum = (property: 'bytes' | 'records') =>
      found.reduce((total, each) => total + each[property], 0) / messages;
    const breakdown = `per message, of ${messages}:\n${describeRecords(found, 'kind')}\n${describeRecords(found, 'table')}`;
    expect(found.find(({ table, kind }) => table === 'messages' && kind === 'Heap INSERT')).toBeDefined();
    expect(sum('bytes'), breakdown).toBeLessThanOrEqual(today.bytes * tolerance);
    expect(sum('records'), breakdown).toBeLessThanOrEqual(today.records * tolerance);
  });
});

/** A service on a PostgreSQL of its own, which writes nothing by itself, and on Redis, so that queues add nothing. */
async function startOwnService(): Promise<TestService> {
  const redis = stopAfterTest(await startTestRedis());
  const dataDir = await createFolder();
  const settings = { autovacuum: 'off', checkpoint_timeout: '1h', shared_buffers: '64MB' };
  const postgres = stopAfterTest(await startPostgres({ dataDir, throwaway: true, settings }));
  await migrateForward(postgres.url);
  const env = { ...buildTestEnv(postgres.url), REDIS_URL: redis.url, SEND_CONTEXT: 'on' };
  const service = stopAfterTest(await startService({ settings: { env, release: () => Promise.resolve() } }));
  await service.sql('create extension pg_walinspect');
  return service;
}

async function countJobs({ core }: TestService): Promise<number> {
  const depths = await core.queues.depths();
  const queued = depths.map(({ queue, waiting, active }) => (queue === 'maintenance' ? 0 : waiting + active));
  return queued.reduce((total, count) => total + count, (await core.db.outbox.readAge()).rows);
}

/** The position after all records so far, which are written out. */
async function readPosition({ sql }: TestService): Promise<string> {
  await sql("select pg_logical_emit_message(false, 'test', '', true)");
  const [row] = await sql<{ position: string }>('select pg_current_wal_flush_lsn()::text as position');
  return row?.position ?? '';
}

/** A line for each kind or table, the largest first; for a table also the rows that were inserted, updated and deleted. */
function describeRecords(found: readonly Records[], by: 'kind' | 'table'): string {
  const lines = [...new Set(found.map((each) => each[by]))].map((name) => {
    const group = found.filter((each) => each[by] === name);
    const count = (pattern: RegExp, property: 'bytes' | 'records' = 'records') =>
      group.reduce((total, each) => total + (pattern.test(each.kind) ? each[property] : 0), 0) / messages;
    const rows = { inserted: /^Heap INSERT/, updated: /^Heap (?:HOT_)?UPDATE/, deleted: /^Heap DELETE/ };
    const changed = Object.entries(rows).map(([change, pattern]) => `${count(pattern).toFixed(2)} ${change}`);
    const size = `${count(/./, 'bytes').toFixed(0)} bytes in ${count(/./).toFixed(2)} records`;
    return {
      bytes: count(/./, 'bytes'),
      line: `${name}: ${[size, ...(by === 'table' ? changed : [])].join(', ')}`,
    };
  });
  return lines
    .toSorted((a, b) => b.bytes - a.bytes)
    .map(({ line }) => `  ${line}`)
    .join('\n');
}
