import { beforeAll, expect, test } from 'vitest';
import { openHistoryDatabase } from '../../../bench/history/database.ts';
import { newId } from '../../../packages/core/src/domain/ids.ts';
import { feedRepository } from '../../../src/repositories/feed/feed.ts';
import { feedRetentionRepository } from '../../../src/repositories/feed/retention.ts';
import { messageBatchesRepository } from '../../../src/repositories/messages/batches.ts';
import { type MessageSearch, messageSearchRepository } from '../../../src/repositories/messages/search.ts';
import { messagesRepository } from '../../../src/repositories/messages/messages.ts';
import type { Queryable, Statement } from '../../../src/repositories/queryable.ts';
import { threadListRepository } from '../../../src/repositories/threads/list.ts';
import { conversationsRepository } from '../../../src/repositories/threads/conversations.ts';
import { threadMembersRepository } from '../../../src/repositories/threads/members.ts';
import { threadsRepository } from '../../../src/repositories/threads/threads.ts';
import {
  collectPlans,
  countReadRows,
  flattenPlan,
  queryableOf,
  testFullScans,
  type Use,
} from '../../support/query-plans.ts';
import { waitsRepository } from '../../../src/repositories/threads/waits.ts';
import { useConnectedDatabase } from '../../support/servers/postgres/database.ts';

/** The tables that grow with use; all others are small. */
const big = new Set('messages message_search thread_members threads thread_marks events feed'.split(' '));

const reader = newId('agent');
const others = Array.from({ length: 1_000 }, () => newId('agent'));
const client = useConnectedDatabase();
let thread_ids: string[];
let vocabulary: readonly string[];

// Large enough that an index is cheaper: PostgreSQL scans a table when it needs more than a small part of it.
beforeAll(async () => {
  const history = await openHistoryDatabase({
    url: client.url,
    reader_id: reader,
    agent_ids: others,
    threads: 200,
    other_threads: 39_800,
    signal: new AbortController().signal,
  });
  try {
    await client.query(`set session_replication_role = replica;
      insert into thread_marks (account_id, thread_id) select 'acc_' || n, id from threads, generate_series(0, 1) n`);
    await client.query(
      `insert into feed_heads (agent_id, last_number) select agent, 40 from unnest($1::text[]) agent`,
      [[reader, ...others]],
    );
    await client.query(
      `insert into feed (agent_id, number, event_id)
       select agent, n, 'evt_' || lpad(n::text, 26, '0') from unnest($1::text[]) agent, generate_series(1, 40) n`,
      [[reader, ...others]],
    );
    await client.query(
      `insert into events (id, type, thread_id, message_id, recipients, created_at)
       select 'evt_' || lpad(n::text, 26, '0'), 'message.created', 'thd_' || n, 'msg_' || lpad(n::text, 26, '0'), $1, n from generate_series(1, 20000) n`,
      [[reader]],
    );
    await history.growTo(30_000);
    thread_ids = history.threads().map(({ id }) => id);
    vocabulary = history.vocabulary;
  } finally {
    await history.close();
  }
});

const thread = () => thread_ids[3] ?? '';
const listed = () => ({ id: thread(), last_sequence: 900, last_message_at: Date.now(), created_at: 0 });
const anyThread = {
  status: null,
  with_handle: null,
  updated_since: null,
  unread: false,
  limit: 21,
};
const position = { activity: Date.now(), id: newId('thread'), snapshot: '1:1:', since: Date.now() };
const anyConversation = {
  agent: null,
  counterpart: null,
  status: null,
  waiting: null,
  mark: null,
  unread: false,
  activity: null,
  id: null,
  limit: 26,
};
const range = { below: 2_147_483_647, above: 0, limit: 51 };
const anyTime = { after: 0, before: Number.MAX_SAFE_INTEGER, from_id: 'msg_0', below_id: 'msg_7ZZZ' };
const eventId = (number: number) => `evt_${String(number).padStart(26, '0')}`;
const word = (place: number) => vocabulary[place] ?? '';
const frequent = (): [string, string] => [`'${word(3)}'`, `'${word(3)}'`];
const phrase = (): [string, string] => [
  `('${word(300)}'<->'${word(400)}')`,
  `('${word(300)}'&'${word(400)}')`,
];

function searchMessages(db: Queryable, matches: string, words = matches, part: Partial<MessageSearch> = {}) {
  const filters = { ...anyTime, sender: null, with_attachment: false, limit: 21 };
  const search = { ...filters, thread_ids, messages: 1_000_000, query: matches, words, ...part };
  return messageSearchRepository(db).search(reader, search);
}

const reads: Use[] = [
  ['a thread', (db) => threadsRepository(db).findForMember(thread(), reader)],
  ['first page of threads', (db) => threadListRepository(db).list(reader, anyThread)],
  ['later page of threads', (db) => threadListRepository(db).listAfter(reader, anyThread, position)],
  [
    'threads with an agent',
    (db) => threadListRepository(db).list(reader, { ...anyThread, with_handle: 'a.b', status: 'active' }),
  ],
  ...(
    [
      ['first page', {}],
      ['later page', { activity: position.activity, id: position.id }],
      ['of one agent with a counterpart', { agent: reader, counterpart: others[0] ?? '' }],
      ['unread', { unread: true }],
      ['waiting', { waiting: 'me' }],
    ] as const
  ).map(([name, filter]): Use => [
    `conversations of an agent's people: ${name}`,
    (db) => conversationsRepository(db).list({ agent_id: reader }, { ...anyConversation, ...filter }),
  ]),
  ...([null, 'open', 'done', 'muted'] as const).map((mark): Use => [
    `conversations of a person: ${mark ?? 'all'}`,
    (db) => conversationsRepository(db).list({ account_id: 'acc_0' }, { ...anyConversation, mark }),
  ]),
  [
    'waits',
    (db) => waitsRepository(db).list({ agent_id: reader }, { since: 0, now: Date.now(), limit: 500 }),
  ],
  ['a conversation', (db) => conversationsRepository(db).find({ agent_id: reader }, { thread_id: thread() })],
  [
    'reply targets',
    (db) => messageBatchesRepository(db).listReplyTargets([{ thread_id: thread(), id: newId('message') }]),
  ],
  ['messages, newest first', (db) => messagesRepository(db).list(listed(), { ...range, order: 'desc' })],
  ['messages, oldest first', (db) => messagesRepository(db).list(listed(), { ...range, order: 'asc' })],
  ['the reply to a message', (db) => messagesRepository(db).findFirstOfOthers(thread(), 3, reader)],
  ['threads to search', (db) => messageSearchRepository(db).listThreads(reader, null)],
  [
    'threads to search with an agent',
    (db) => messageSearchRepository(db).listThreads(reader, others[0] ?? ''),
  ],
  ...[0, 200, 1_000, 19_000].map((place): Use => [
    `search of the word at frequency rank ${place}`,
    (db) => searchMessages(db, `'${word(place)}'`),
  ]),
  ['search of a prefix', (db) => searchMessages(db, `'${word(1_000).slice(0, 4)}':*`)],
  [
    'search of a phrase in one thread',
    (db) => searchMessages(db, ...phrase(), { thread_ids: [thread()], messages: 900 }),
  ],
  [
    'search of messages of a sender',
    (db) => searchMessages(db, `'${word(300)}'`, `'${word(300)}'`, { sender: others[0] ?? '' }),
  ],
  ['feed', (db) => feedRepository(db).read([{ agent_id: reader, after: 10 }], 100)],
  ['bounds of a feed', (db) => feedRepository(db).readBounds([reader])],
  ['events of a feed', (db) => feedRepository(db).readEvents([eventId(7), eventId(8)])],
  ['marks of a feed', (db) => feedRepository(db).readMarks([{ agent_id: reader, after: 0, upto: 40 }])],
  [
    'delivered marks of many threads',
    (db) =>
      threadMembersRepository(db).markDelivered(
        thread_ids.slice(0, 100).map((thread_id) => ({ thread_id, agent_id: reader, sequence: 3 })),
      ),
  ],
  [
    'senders of many threads',
    (db) =>
      threadMembersRepository(db).lockSenders(
        thread_ids.slice(0, 100).map((thread_id) => ({
          thread_id,
          agent_id: reader,
          canonical_handle: 'a.b',
          after: 1,
          up_to_sequence: 3,
        })),
      ),
  ],
  ['receipts of a thread', (db) => threadMembersRepository(db).listMarks(thread())],
  ['feeds with old entries', (db) => feedRetentionRepository(db).listAgents('', eventId(7), 100)],
  ['old entries', (db) => feedRetentionRepository(db).removeEntries([reader], 'evt_0', 100)],
  ['old events', (db) => feedRetentionRepository(db).removeEvents('evt_0', 100)],
];

testFullScans(client, reads, big);

/** How a search statement reads the search rows: its index scans, each with the name of the index and the condition. */
async function listIndexScans(name: string, run: (db: Queryable) => Promise<unknown>): Promise<string[]> {
  const plain = queryableOf(client);
  const plans = await collectPlans(plain, (recorded) =>
    run({ query: (sql, values) => (sql.name === name ? recorded : plain).query(sql, values) }),
  );
  expect(plans.length).toBeGreaterThan(1);
  return plans.flatMap(flattenPlan).flatMap(({ 'Index Name': index, 'Index Cond': condition }) => {
    const isOfFirst = index?.startsWith('message_search_') && index.includes('_first');
    return isOfFirst ? [`${index}: ${condition ?? ''}`] : [];
  });
}

test.each([
  ['a frequent word', frequent],
  ['a phrase', phrase],
])('the word index is searched for words and periods in one scan, and no other index: %s', async (_, of) => {
  const { rows } = await client.query<{ id: string }>('select id from threads');
  for (const ids of [thread_ids, rows.map(({ id }) => id)]) {
    const scans = await listIndexScans('message_search.by_words', (db) =>
      searchMessages(db, ...of(), { thread_ids: ids, limit: 3_000 }),
    );
    expect(scans).not.toEqual([]);
    for (const scan of scans) expect(scan).toMatch(/^message_search_document_first: .*document @@ .* && /);
  }
});

test('the latest messages are read by their ids, and few threads by their messages', async () => {
  const inRange = await listIndexScans('message_search.in_range', (db) => searchMessages(db, ...phrase()));
  for (const scan of inRange)
    expect(scan).toMatch(/^message_search_first_pkey: .*message_id >= .*message_id < /);
  const inThreads = await listIndexScans('message_search.in_threads', (db) =>
    searchMessages(db, ...phrase(), { thread_ids: [thread()], messages: 900 }),
  );
  for (const scan of inThreads) expect(scan).toMatch(/^message_search_thread_first: .*thread_id = ANY /);
  expect([inRange.length, inThreads.length]).toEqual([2, 2]);
});

test('the plans of a search are kept after the first five calls', async () => {
  const named: Queryable = {
    query: async <Row extends object>(sql: Statement, values: readonly unknown[]) =>
      (await client.query<Row>({ ...sql, values: [...values] })).rows,
  };
  for (let call = 0; call < 8; call += 1) {
    await searchMessages(named, ...phrase());
    await searchMessages(named, ...phrase(), { thread_ids: [thread()], messages: 900 });
  }
  const { rows } = await client.query<{ name: string }>(
    `select name from pg_prepared_statements where name like 'message_search.%' and custom_plans = 5 and generic_plans >= 3`,
  );
  expect(rows.map(({ name }) => name).toSorted()).toEqual([
    'message_search.by_words',
    'message_search.in_range',
    'message_search.in_threads',
    'message_search.scanned_range',
  ]);
});

test('the first message of another member after a sequence is read without those after it', async () => {
  const longThread = thread_ids[0] ?? '';
  const read = await countReadRows(client, 'messages_first', (db) =>
    messagesRepository(db).findFirstOfOthers(longThread, 1, newId('agent')),
  );
  expect(read).toEqual([1]);
});

/** A database that plans each query again. */
const unnamed = (db: Queryable): Queryable => ({
  query: async (statement, values) => (statement.name === undefined ? db.query(statement, values) : []),
});

test.each(['asc', 'desc'] as const)(
  'a page of a long thread without bounds is read from its end (%s) without a sort of all messages',
  async (order) => {
    const longThread = { ...listed(), id: thread_ids[0] ?? '' };
    const page = (db: Queryable) => messagesRepository(unnamed(db)).list(longThread, { ...range, order });
    const plans = (await collectPlans(queryableOf(client), page)).flatMap(flattenPlan);
    const scans = (nodes: typeof plans) => nodes.filter((node) => node['Relation Name'] === 'messages_first');
    expect(scans(plans)).not.toEqual([]);
    const sorts = plans.filter((node) => node['Node Type'].endsWith('Sort'));
    expect(scans(sorts.flatMap(flattenPlan))).toEqual([]);
  },
);
