import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import type { Cursors } from '../src/domain/feed/cursors.ts';
import { call } from './load/call.ts';
import { subjectOf } from './transports/transport.ts';
import { eventPage } from './transports/long-poll.ts';
import { searchWord } from './load/actions.ts';
import type { History, SeenEvent, StoredThread } from './history.ts';
import type { Agent } from './load/population.ts';

const next_cursor = z.string().nullish();
const threadPage = z.looseObject({
  threads: z.array(z.looseObject({ id: z.string(), last_sequence: z.int(), unread_count: z.int() })),
  next_cursor,
});
const message = z.object({
  id: z.string(),
  sequence: z.int(),
  content: z.string(),
  sender: z.object({ id: z.string() }),
});
const messagePage = z.looseObject({ messages: z.array(message), next_cursor });
const searchPage = z.looseObject({ results: z.array(z.looseObject({ message })), next_cursor });
const requestPage = z.looseObject({ requests: z.array(z.object({ request_id: z.string() })), next_cursor });

/** Reads answers and lists of pages. Retries while the outcome is unknown; throws on a permanent error. */
function createPageReader(base: string, giveUp: AbortSignal) {
  async function get<T>(agent: Agent, path: string, query: object, schema: z.ZodType<T>): Promise<T> {
    const parameters = Object.entries(query).filter(([, value]) => value !== null && value !== undefined);
    const text = new URLSearchParams(parameters.map(([name, value]) => [name, String(value)])).toString();
    for (;;) {
      giveUp.throwIfAborted();
      const request = { base, token: agent.tokens.api, method: 'GET', path: `${path}?${text}` } as const;
      const outcome = await call({ ...request, timeoutMs: 10_000 });
      if ('answer' in outcome) return schema.parse(outcome.answer);
      if ('refused' in outcome) throw new Error(`GET ${path}: ${outcome.refused}`);
      await pause(100);
    }
  }

  async function getAll<Page extends { next_cursor?: string | null | undefined }>(
    agent: Agent,
    path: string,
    query: object,
    schema: z.ZodType<Page>,
  ): Promise<Page[]> {
    const pages: Page[] = [];
    let cursor: string | null | undefined;
    do {
      const page = await get(agent, path, { ...query, cursor }, schema);
      pages.push(page);
      cursor = page.next_cursor;
    } while (cursor);
    return pages;
  }

  return { get, getAll };
}

/** A client that reads the stored state. Retries while the service cannot answer; throws on a permanent error. */
export function createCollector(base: string, cursors: Cursors, giveUp: AbortSignal) {
  const { get, getAll } = createPageReader(base, giveUp);

  /** The cursor of the current end of the agent's feed. */
  async function position(agent: Agent): Promise<string> {
    return (await get(agent, '/events', {}, eventPage)).cursor;
  }

  /** Ids of the messages that a search for the common word finds in a thread. */
  async function search(agent: Agent, thread_id: string): Promise<string[]> {
    const query = { q: searchWord, thread_id, limit: 50 };
    const pages = await getAll(agent, '/messages/search', query, searchPage);
    return pages.flatMap(({ results }) => results.map((result) => result.message.id));
  }

  return {
    position,
    /** The number of the last event in the agent's feed. */
    async end(agent: Agent): Promise<number> {
      return cursors.decodeFeed(agent.id, await position(agent));
    },
    /** Reads the whole feed after a position. */
    async feed(agent: Agent, start: string): Promise<History['feeds'][number]> {
      const events: SeenEvent[] = [];
      const begin = cursors.decodeFeed(agent.id, start);
      let cursor = start;
      for (let complete = false; !complete;) {
        const page = await get(agent, '/events', { cursor, limit: 100 }, eventPage);
        if (page.gap) throw new Error(`a gap in the feed of ${agent.id} after ${cursor}`);
        for (const { id, type, cursor: after, data } of page.events) {
          const number = cursors.decodeFeed(agent.id, after);
          events.push({ event_id: id, type, number, subject: subjectOf(type, data) });
        }
        ({ cursor, complete } = page);
      }
      return { agent_id: agent.id, start: begin, events };
    },
    /** The threads of an agent with all messages. Threads for which `searches` is true include search results. */
    async threads(agent: Agent, searches: (thread_id: string) => boolean): Promise<StoredThread[]> {
      const pages = await getAll(agent, '/threads', { limit: 100 }, threadPage);
      const stored: StoredThread[] = [];
      for (const { id: thread_id, last_sequence, unread_count } of pages.flatMap(({ threads }) => threads)) {
        const query = { order: 'asc', limit: 100 };
        const listed = await getAll(agent, `/threads/${thread_id}/messages`, query, messagePage);
        const messages = listed.flatMap((page) => page.messages);
        const found = searches(thread_id) ? await search(agent, thread_id) : null;
        stored.push({ thread_id, agent_id: agent.id, last_sequence, unread_count, messages, found });
      }
      return stored;
    },
    /** The contact requests that an agent made. */
    async requests(agent: Agent): Promise<History['requests'][number]> {
      const pages = await getAll(agent, '/contacts/requests', { direction: 'outgoing' }, requestPage);
      return {
        by: agent.id,
        request_ids: pages.flatMap(({ requests }) => requests.map(({ request_id }) => request_id)),
      };
    },
  };
}

export type Collector = ReturnType<typeof createCollector>;
