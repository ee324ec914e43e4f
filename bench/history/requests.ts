import { buildGetRequest, type HttpResponse, type KeepAliveConnection } from '../http-client.ts';
import type { History } from './database.ts';
import type { ThreadPosition } from './rows.ts';

/** One row of the report: requests of the same kind, sent in rotation. */
export interface RequestKind {
  name: string;
  paths: string[];
}

export interface Caller {
  base: string;
  token: string;
}

interface Page {
  threads?: unknown[];
  messages?: unknown[];
  results?: unknown[];
  next_cursor?: string;
}

const maxPages = 50;
/** Threads with this many messages have full pages at each size. */
const minMessages = 100;
const maxThreads = 5;

/** Sends a GET and returns the parsed page. @throws when the status is not 200. */
export async function getPage(connection: KeepAliveConnection, caller: Caller, path: string): Promise<Page> {
  const answer: HttpResponse = await connection.send(buildGetRequest({ ...caller, path }));
  if (answer.status !== 200)
    throw new Error(`GET ${path} answered ${answer.status}: ${answer.body.slice(0, 300)}`);
  return JSON.parse(answer.body) as Page;
}

/** The reader's longest threads. The same threads are used at each size, so that pages have the same length. */
export function findLongThreads(history: History): ThreadPosition[] {
  const long = history.threads().filter(({ last_sequence }) => last_sequence >= minMessages);
  if (long.length === 0)
    throw new Error(`--messages: no thread has ${minMessages} messages at the first size`);
  return long.slice(0, maxThreads);
}

/** The lists: first pages, and deep pages (up to 5,000 messages, or half of the list), which are reached by cursors. */
export async function listRequestKinds(
  connection: KeepAliveConnection,
  caller: Caller,
  parts: { threads: number; long: readonly ThreadPosition[] },
): Promise<RequestKind[]> {
  async function findDeepCursor(path: string, rows: number, limit: number): Promise<string> {
    let cursor = '';
    for (let page = 0; page < Math.min(maxPages, Math.floor(rows / 2 / limit)); page += 1) {
      const { next_cursor } = await getPage(connection, caller, `${path}?limit=${limit}${cursor}`);
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
