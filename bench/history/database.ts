import pg from 'pg';
import { newId } from '../../packages/core/src/domain/ids.ts';
import { searchTextVersion } from '../../packages/core/src/domain/search/tokenizer.ts';
import { withTimeout } from '../start/with-timeout.ts';
import { createRowGenerator, type ThreadPosition } from './rows.ts';

export interface HistoryOptions {
  url: string;
  reader_id: string;
  /** The other agents, who write to the reader and to each other; at least two. */
  agent_ids: readonly string[];
  /** Threads that the reader is in. */
  threads: number;
  /** Threads without the reader, with as many messages in each. */
  other_threads: number;
  /** When the history begins, in milliseconds; a year ago by default. */
  start?: number;
  signal: AbortSignal;
}

export interface History {
  /** The reader's threads, the longest first. */
  threads(): ThreadPosition[];
  vocabulary: readonly string[];
  /** Contents of some messages in the reader's threads. */
  samples(): readonly string[];
  /** Loads messages up to this total; then runs VACUUM and ANALYZE. */
  growTo(messages: number): Promise<void>;
  close(): Promise<void>;
}

const yearMs = 365 * 24 * 3_600_000;
const batchSize = 5_000;
/** Messages indexed by one statement. */
const indexSize = 50_000;
const statementTimeoutMs = 600_000;
const maxSamples = 5_000;

const sql = {
  threads: `insert into threads (id, subject, status, created_by, created_at, updated_at)
    select id, 'Thread ' || id, 'active', agent, $3, $3 from unnest($1::text[], $2::text[]) t (id, agent)`,
  members: `insert into thread_members (thread_id, agent_id, joined_at)
    select id, agent, $3 from unnest($1::text[], $2::text[]) t (id, agent)`,
  // PostgreSQL reads one text several times as fast as an array.
  messages: `insert into messages (id, thread_id, sequence, sender_id, content, content_type, created_at)
    select id, thread_id, sequence::int, sender_id, content, 'text', created_at::bigint
    from rows from (
      string_to_table($1, e'\\n'), string_to_table($2, e'\\n'), string_to_table($3, e'\\n'),
      string_to_table($4, e'\\n'), string_to_table($5, e'\\n'), string_to_table($6, e'\\n')
    ) t (id, thread_id, sequence, sender_id, content, created_at)`,
  /** Another history can have indexed some of them. For words of plain letters PostgreSQL computes the same rows as the worker, which indexes the messages sent between two loads. */
  searchRows: `insert into message_search (message_id, thread_id, sender_id, document, version, created_at, indexed_at)
    select id, thread_id, sender_id, to_tsvector('simple', content), $2, created_at, created_at + 500
    from messages where id > $1 and id <= $3 order by id on conflict do nothing`,
  feedCounters: `update threads t set last_sequence = m.last, last_message_at = m.latest, updated_at = m.latest,
      last_sender_id = (select sender_id from messages s where s.thread_id = m.thread_id and s.sequence = m.last limit 1)
    from (select thread_id, max(sequence) as last, max(created_at) as latest from messages group by thread_id) m
    where m.thread_id = t.id`,
  /** Some members have read everything; others have up to nine unread messages. */
  readMarks: `update thread_members v set read_sequence = greatest(0, t.last_sequence - abs(hashtext(v.thread_id || v.agent_id) % 10))
    from threads t where t.id = v.thread_id`,
  /** The last message of each thread expects a reply of one member. */
  questions: `with question as (
      insert into expected_replies (message_id, asked_id, thread_id, sequence, sender_id, asks_person, created_at)
      select m.id, v.agent_id, t.id, t.last_sequence, t.last_sender_id, false, t.last_message_at from threads t
      cross join lateral (select id from messages where thread_id = t.id and sequence = t.last_sequence limit 1) m
      cross join lateral (select agent_id from thread_members where thread_id = t.id and agent_id <> t.last_sender_id limit 1) v
      on conflict do nothing returning thread_id)
    update threads set has_questions = true where id in (select thread_id from question)`,
};

/**
 * Loads a history in bulk, without the service: rows as the service writes them, in order of time, without events and without
 * foreign key checks. The reader is in `threads` of all threads, spread evenly over long and short ones.
 */
export async function openHistoryDatabase(options: HistoryOptions): Promise<History> {
  const { signal, reader_id } = options;
  const client = new pg.Client({
    connectionString: options.url,
    statement_timeout: statementTimeoutMs,
    query_timeout: statementTimeoutMs,
  });
  client.on('error', () => undefined); // the running statement rejects with it
  const run = (text: string, values: unknown[] = []) =>
    withTimeout('a statement of the load', statementTimeoutMs, client.query(text, values), signal);

  const { start = Date.now() - yearMs } = options;
  const threads = readThreadPositions(options);
  const own = threads.filter(({ members }) => members.includes(reader_id));
  const ownIds = new Set(own.map(({ id }) => id));
  const writer = createRowGenerator(threads, start);
  const samples: string[] = [];
  let loaded = 0;
  let newest = '';

  await withTimeout('a connection to PostgreSQL', 10_000, client.connect(), signal);
  await run('set session_replication_role = replica'); // foreign keys hold by construction
  const ids = threads.map(({ id }) => id);
  await run(sql.threads, [ids, threads.map(({ members }) => members[0]), start]);
  for (const side of [0, 1] as const) {
    await run(sql.members, [ids, threads.map(({ members }) => members[side]), start]);
  }

  return {
    vocabulary: writer.vocabulary,
    threads: () => own.toSorted((a, b) => b.last_sequence - a.last_sequence),
    samples: () => samples,
    async growTo(messages) {
      let indexed = { upto: newest, messages: loaded };
      const index = async () => {
        await run(sql.searchRows, [indexed.upto, searchTextVersion, newest]);
        indexed = { upto: newest, messages: loaded };
      };
      while (loaded < messages) {
        const count = Math.min(batchSize, messages - loaded);
        const batch = writer.next(count);
        const { id, thread_id, sequence, sender_id, content, created_at } = batch;
        const columns = [id, thread_id, sequence, sender_id, content, created_at];
        await run(
          sql.messages,
          columns.map((column) => column.join('\n')),
        );
        samples.push(
          ...content.filter((_, at) => samples.length < maxSamples && ownIds.has(thread_id[at] ?? '')),
        );
        newest = id.at(-1) ?? newest;
        loaded += count;
        if (loaded - indexed.messages >= indexSize) await index();
      }
      await index();
      await run(sql.feedCounters);
      await run(sql.readMarks);
      await run(sql.questions);
      await run('vacuum (analyze)');
    },
    close: () => client.end(),
  };
}

/** Spreads the reader's threads evenly among the others. */
function readThreadPositions(options: HistoryOptions): ThreadPosition[] {
  const { reader_id, agent_ids, threads, other_threads } = options;
  const total = threads + other_threads;
  return Array.from({ length: total }, (_, number) => {
    const share = (count: number) => Math.ceil((count * threads) / total);
    const [first, second] = [
      agent_ids[number % agent_ids.length],
      agent_ids[(number + 1) % agent_ids.length],
    ];
    if (first === undefined || second === undefined) throw new Error('there are no other agents');
    const isOwn = share(number + 1) > share(number);
    const members = [isOwn ? reader_id : second, first] as const;
    return { id: newId('thread'), members, last_sequence: 0 };
  });
}
