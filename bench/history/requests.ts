import type { HttpPool } from '../load/http-client.ts';
import type { History } from './database.ts';
import type { ThreadPosition } from './rows.ts';

/** One row of the report: requests of the same kind, sent in rotation. */
export interface RequestKind {
  name: string;
  paths: string[];
}

const maxPages = 50;
/** Threads with this many messages have full pages at each size. */
const minMessages = 100;
const maxThreads = 5;
/** Number of different searches of each kind. */
const queries = 40;

/** The reader's longest threads. The same threads are used at each size, so that pages have the same length. */
export function findLongThreads(history: History): ThreadPosition[] {
  const long = history.threads().filter(({ last_sequence }) => last_sequence >= minMessages);
  if (long.length === 0)
    throw new Error(`--messages: no thread has ${minMessages} messages at the first size`);
  return long.slice(0, maxThreads);
}

/** The lists: first pages, and deep pages (up to 5,000 messages, or half of the list), which are reached by cursors. */
export async function listRequestKinds(
  pool: HttpPool,
  token: string,
  parts: { threads: number; long: readonly ThreadPosition[] },
): Promise<RequestKind[]> {
  async function findDeepCursor(path: string, rows: number, limit: number): Promise<string> {
    let cursor = '';
    for (let page = 0; page < Math.min(maxPages, Math.floor(rows / 2 / limit)); page += 1) {
      const body = await pool.request({ path: `${path}?limit=${limit}${cursor}`, token });
      const { next_cursor } = JSON.parse(body) as { next_cursor?: string };
      if (next_cursor === undefined) break;
      cursor = `&cursor=${encodeURIComponent(next_cursor)}`;
    }
    return cursor;
  }
  const paths: string[] = [];
  const deepPaths: string[] = [];
  for (const { id, last_sequence } of parts.long) {
    const path = `/v1/threads/${id}/messages`;
    paths.push(`${path}?limit=50`);
    deepPaths.push(`${path}?limit=50${await findDeepCursor(path, last_sequence, 100)}`);
  }
  const deepThreads = await findDeepCursor('/v1/threads', parts.threads, 20);
  return [
    { name: 'threads', paths: ['/v1/threads?limit=20'] },
    { name: 'threads, deep page', paths: [`/v1/threads?limit=20${deepThreads}`] },
    { name: 'messages', paths },
    { name: 'messages, deep page', paths: deepPaths },
  ];
}

/**
 * Searches in all threads of the agent, newest first, by word frequency. With texts of 30 words, the first word of the vocabulary is in
 * nearly every message, the 100th in 3 of 100, the 1,000th in 3 of 1,000, and the last ones in 1 of 7,000.
 */
export function listSearchKinds({ vocabulary, samples }: History): RequestKind[] {
  const spread = (items: readonly string[]) => {
    const step = Math.max(1, items.length / queries);
    const count = Math.min(queries, items.length);
    return Array.from({ length: count }, (_, at) => items[Math.floor(at * step)] ?? '');
  };
  const middling = spread(vocabulary.slice(500, 1_500));
  const pairs = spread(samples()).map((text) => text.split(' ').slice(3, 5).join(' '));
  const kinds: Record<string, string[]> = {
    'common word': spread(vocabulary.slice(0, 20)),
    'frequent word': spread(vocabulary.slice(100, 300)),
    'middling word': middling,
    'rare word': spread(vocabulary.slice(15_000, 20_000)),
    'two middling words': middling.map((word, at) => `${word} ${middling.at(at - 1)}`),
    phrase: pairs.map((pair) => `"${pair}"`),
    prefix: middling.map((word) => `${word.slice(0, 4)}*`),
    nothing: middling.map((_, at) => `xyzzy${at}`),
  };
  return Object.entries(kinds).map(([name, texts]) => ({
    name: `search, ${name}`,
    paths: texts.map((text) => `/v1/messages/search?limit=20&q=${encodeURIComponent(text)}`),
  }));
}
