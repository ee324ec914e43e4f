import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '../../../packages/core/src/domain/ids.ts';
import { openDatabase } from '../../../src/platform/database/database.ts';
import { commitStatement } from '../../../src/work/commit.ts';
import { feedRepository } from '../../../src/repositories/feed/feed.ts';
import { messageBatchesRepository } from '../../../src/repositories/messages/batches.ts';
import { messageSearchRepository } from '../../../src/repositories/messages/search.ts';
import { attachmentsRepository } from '../../../src/repositories/attachments/attachments.ts';
import { threadMembersRepository } from '../../../src/repositories/threads/members.ts';
import { collectPlans, findUnindexedReads, flattenPlan, type Use } from '../../support/query-plans.ts';
import { createTestDatabase } from '../../support/servers/postgres/database.ts';
import { use } from '../../support/use.ts';

/** The tables that a write reads. It needs only a few rows of each. */
const tables = new Set([
  'agents',
  'owners',
  'feed_heads',
  'threads',
  'thread_members',
  'thread_exchanges',
  'messages',
  'events',
  'feed',
  'attachments',
]);

// Few enough that the planner could prefer a full scan to an index lookup of ten rows.
const agents = Array.from({ length: 2_000 }, () => newId('agent'));
const threads = agents.slice(0, 1_000).map(() => newId('thread'));
const [sender = '', other = ''] = agents;
const [thread_id = '', repliedThread = ''] = threads;
const messages = agents.map(() => newId('message'));
const [replied = ''] = messages;
const writer = { thread_id, agent_id: sender };
const database = use(createTestDatabase);
let pool: ReturnType<typeof openDatabase>;

beforeAll(async () => {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    await client.query('set session_replication_role = replica');
    await client.query(
      `insert into owners (id, kind, name, created_at) select id, 'account', id, 0 from unnest($1::text[]) a (id)`,
      [agents],
    );
    await client.query(
      `insert into agents (id, owner_id, canonical_handle, display_name, scope, visibility, inbound_policy, created_at, updated_at)
       select id, id, 'ann.a' || n, 'Ann', 'personal', 'public', 'open', 0, 0 from unnest($1::text[]) with ordinality a (id, n)`,
      [agents],
    );
    await client.query('insert into feed_heads (agent_id) select unnest($1::text[])', [agents]);
    await client.query(
      `insert into threads (id, status, created_by, created_at, updated_at) select unnest($1::text[]), 'active', $2, 0, 0`,
      [threads, sender],
    );
    await client.query(
      `insert into thread_members (thread_id, agent_id, joined_at)
       select t.id, a.id, 0 from unnest($1::text[]) with ordinality t (id, n)
       join unnest($2::text[]) with ordinality a (id, n) on a.n in (2 * t.n - 1, 2 * t.n)`,
      [threads, agents],
    );
    await client.query(
      `insert into messages (id, thread_id, sequence, sender_id, content, content_type, metadata, created_at)
       select id, $2, n, $3, 'x', 'text', '{}', 0 from unnest($1::text[]) with ordinality m (id, n)`,
      [messages, threads[1], sender],
    );
    await client.query(
      `insert into attachments (id, uploader_id, storage_key, filename, content_type, size_bytes, sha256, created_at)
       select id, uploader, id, 'x.txt', 'text/plain', 1, repeat('0', 64), 0 from unnest($1::text[], $2::text[]) a (id, uploader)`,
      [agents.map(() => newId('attachment')), agents],
    );
    await client.query(
      `insert into thread_exchanges (thread_id, one_id, other_id, exchanges, since) select unnest($1::text[]), $2, $3, 1, 0`,
      [threads, ...[sender, other].toSorted()],
    );
    await client.query('analyze');
  } finally {
    await client.end();
  }
  pool = openDatabase({ url: database.url, poolSize: 1, onError: () => undefined });
});
afterAll(async () => {
  await pool.close();
});

const reply_to = newId('message');
const file = { id: newId('attachment'), uploader_id: sender };
const message = () => {
  const rest = { content: 'x', content_type: 'text' as const, metadata: {}, reply_to: null, created_at: 1 };
  return { ...rest, id: newId('message'), thread_id, sender_id: sender };
};
const row = () => ({
  ...message(),
  sequence: 1,
  sender_handle: 'ann.a1',
  attachments: [],
  written_by: 'agent' as const,
});
const commit = (recipients = [sender, other]) => {
  const event = { id: newId('event'), type: 'message.created', thread_id, message_id: newId('message') };
  return commitStatement({
    now: 1,
    events: [{ ...event, data: null, traceparent: null }],
    entries: recipients.map((agent_id) => ({ agent_id, event_id: event.id })),
    touched: recipients.slice(0, 1),
    raised: [],
    expected_relations: new Map(recipients.slice(1).map((id) => [id, 0])),
    jobs: [{ job: 'deliver', subject_id: event.id }],
    job_grace: 0,
    keys: [],
  });
};

const writes: Use[] = [
  ['locks threads', (db) => messageBatchesRepository(db).lockThreads([writer], { wait: true })],
  ['locks unlocked threads', (db) => messageBatchesRepository(db).lockThreads([writer], { wait: false })],
  [
    'locks known threads',
    (db) => messageBatchesRepository(db).lockUnchanged([{ id: thread_id, last_sequence: 0, updated_at: 0 }]),
  ],
  ['reads audiences', (db) => messageBatchesRepository(db).listAudiences([writer])],
  ['reads exchanges', (db) => messageBatchesRepository(db).listExchanges([writer])],
  [
    'reads reply targets',
    (db) => messageBatchesRepository(db).listReplyTargets([{ thread_id, id: reply_to }]),
  ],
  [
    'requires reply targets',
    (db) => messageBatchesRepository(db).requireReplyTargets([{ thread_id: repliedThread, id: replied }]),
  ],
  ['locks files', (db) => attachmentsRepository(db).lockOwn([file], { wait: true })],
  ['locks unlocked files', (db) => attachmentsRepository(db).lockOwn([file], { wait: false })],
  [
    'marks files as sent',
    (db) => attachmentsRepository(db).markSent([{ id: file.id, message_id: reply_to, position: 1 }]),
  ],
  [
    'appends messages',
    (db) =>
      messageBatchesRepository(db).append({
        messages: [row()],
        threads: [],
        marks: [{ ...writer, after: 0, upto: 1, own: 1 }],
        exchanges: [],
      }),
  ],
  ['commits', (db) => db.query(commit().statement, commit().values)],
  ['acknowledges', (db) => feedRepository(db).acknowledge([{ agent_id: sender, number: 0 }])],
  [
    'marks as delivered',
    (db) => threadMembersRepository(db).markDelivered([{ thread_id, agent_id: other, sequence: 1 }]),
  ],
];

test('looks up each pair of agents by its whole key, not all pairs of the thread', async () => {
  const transaction = await pool.begin();
  try {
    const writers = agents.slice(0, 16).map((agent_id) => ({ thread_id, agent_id }));
    const plans = await collectPlans(transaction, (db) =>
      messageBatchesRepository(db).listExchanges(writers),
    );
    const reads = plans.flatMap(flattenPlan).filter((node) => node['Relation Name'] === 'thread_exchanges');
    expect(reads.length).toBe(2);
    for (const read of reads) expect(read['Index Cond']).toMatch(/thread_id = .*one_id = .*other_id = /);
  } finally {
    await transaction.rollback();
  }
});

const counted = { agent_id: sender, after: null, counted: { start: 0, up_to: 0 }, limit: 10 };

/** Outside of transactions, where the settings of writes do not apply. */
const others: Use[] = [
  ['counters of feeds', (db) => feedRepository(db).readCounters([sender, other])],
  ['bounds of feeds', (db) => feedRepository(db).readBounds([sender, other])],
  ['feed statuses', (db) => feedRepository(db).readStatuses([{ ...counted, types: [] }])],
  ['statuses of all events', (db) => feedRepository(db).readStatuses([{ ...counted, types: null }])],
  ...(['insert', 'replace'] as const).map((write): Use => [
    `the index of words: ${write}`,
    (db) => messageSearchRepository(db)[write]([{ message_id: newId('message'), document: `'x':1` }], 1, 1),
  ]),
];

test.each(others)('finds its rows by their keys outside of a transaction: %s', async (_, run) => {
  const plans = await collectPlans(pool, run);
  expect(plans.length).toBeGreaterThan(1);
  expect(findUnindexedReads(plans, new Set(['feed_heads', 'messages']))).toEqual([]); // the feeds are empty
});

test.each(writes)('finds its rows by their keys: %s', async (_, run) => {
  const transaction = await pool.begin();
  try {
    const plans = await collectPlans(transaction, run);
    expect(plans.length).toBeGreaterThan(1);
    expect(findUnindexedReads(plans, tables)).toEqual([]);
  } finally {
    await transaction.rollback();
  }
});

const locking = new Set([
  'locks threads',
  'locks unlocked threads',
  'locks files',
  'locks unlocked files',
  'commits',
]);

test.each(writes.filter(([name]) => locking.has(name)))(
  'rows are locked in an order that does not depend on the locale of the database: %s',
  async (_, run) => {
    const transaction = await pool.begin();
    try {
      for (const plan of await collectPlans(transaction, run)) {
        const ids = flattenPlan(plan).flatMap((node) => node['Sort Key'] ?? []);
        expect(ids.find((key) => key.includes('id'))).toMatch(/COLLATE "C"/);
      }
    } finally {
      await transaction.rollback();
    }
  },
);

test('commits with the same agents, in any order, never wait for each other in a circle', async () => {
  const few = agents.slice(10, 15);
  const many = openDatabase({ url: database.url, poolSize: 4, onError: () => undefined });
  try {
    const send = async (first: number) => {
      const recipients = [0, 1, 2].map((step) => few[(first + step * (1 + (first % 4))) % few.length] ?? '');
      const { statement, values } = commit([...new Set(recipients)]);
      await (await many.begin()).commit({ statement, values });
      return new Set(recipients).size;
    };
    const counts = await Promise.all(Array.from({ length: 100 }, (_, at) => send(at)));
    const stored = await feedRepository(many).readCounters(few);
    const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);
    expect(sum(stored.map(({ last_number }) => last_number))).toBe(sum(counts));
  } finally {
    await many.close();
  }
});

test('a commit for an agent without a feed counter fails', async () => {
  const transaction = await pool.begin();
  const { statement, values } = commit([sender, newId('agent')]);
  await expect(transaction.commit({ statement, values })).rejects.toThrow('changed by another transaction');
  await transaction.rollback();
});
