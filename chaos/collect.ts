import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Cursors } from '../src/work/cursors.ts';
import { createPageReader } from './page-reader.ts';
import { eventPage } from './transports/long-poll.ts';
import { searchWord } from './load/actions.ts';
import type {
  FeedHistory,
  FinalState,
  SeenEvent,
  StoredInbox,
  StoredMessage,
  StoredReceipt,
  StoredThread,
} from './history.ts';
import type { Agent } from './load/population.ts';

const next_cursor = z.string().nullish();
const thread = z.looseObject({
  id: z.string(),
  last_sequence: z.int(),
  unread_count: z.int(),
  members: z.array(z.looseObject({ id: z.string() })),
});
const threadPage = z.looseObject({ threads: z.array(thread), next_cursor });
const message = z.looseObject({ id: z.string(), sequence: z.int(), content: z.string() });
const messagePage = z.looseObject({ messages: z.array(message), next_cursor });
const searchPage = z.looseObject({ results: z.array(z.looseObject({ message })), next_cursor });
const requestPage = z.looseObject({ requests: z.array(z.object({ request_id: z.string() })), next_cursor });
const receiptList = z.looseObject({
  receipts: z.array(
    z.looseObject({
      agent: z.looseObject({ id: z.string() }),
      delivered_up_to_sequence: z.int(),
      read_up_to_sequence: z.int(),
      handled_up_to_sequence: z.int(),
    }),
  ),
});
const inbox = z.looseObject({ ready: z.int(), leased: z.int() });
const deadPage = z.looseObject({
  items: z.array(z.looseObject({ id: z.string(), attempts: z.int() })),
  next_cursor,
});

type Get = ReturnType<typeof createPageReader>;

/** A client that reads the stored state. Retries while the service cannot answer; throws on a permanent error. */
export function createCollector(base: string, cursors: Cursors, giveUp: AbortSignal) {
  const reader = createPageReader(base, giveUp);
  const { get, getAll, download } = reader;
  const { receipts, thread: readThread } = createThreadReader(reader);

  return {
    receipts,
    /** The events of the agent after a position, or from its oldest event on, and the cursor after them. */
    async feed(agent: Agent, start: string | null): Promise<FeedHistory & { cursor: string | null }> {
      const events: SeenEvent[] = [];
      let cursor = start;
      for (let complete = false; !complete;) {
        const page = await get(agent, '/events', { cursor, limit: 100 }, eventPage);
        if (page.gap) throw new Error(`a gap in the feed of ${agent.id} after ${cursor}`);
        for (const { id, type, cursor: after, created_at, data } of page.events) {
          const number = cursors.decodeFeed(agent.id, after);
          events.push({ event_id: id, type, number, created_at, data });
        }
        ({ cursor, complete } = page);
      }
      const begin = start === null ? 0 : cursors.decodeFeed(agent.id, start);
      return { agent_id: agent.id, start: begin, events, cursor };
    },
    /** The threads of an agent with all messages. Threads for which `searches` is true include search results. */
    async threads(agent: Agent, searches: (thread_id: string) => boolean): Promise<StoredThread[]> {
      const pages = await getAll(agent, '/threads', { limit: 100 }, threadPage);
      const stored: StoredThread[] = [];
      for (const found of pages.flatMap(({ threads }) => threads)) {
        stored.push(await readThread(agent, found, searches(found.id)));
      }
      return stored;
    },
    /** The contact requests that an agent made. */
    async requests(agent: Agent): Promise<FinalState['requests'][number]> {
      const pages = await getAll(agent, '/contacts/requests', { direction: 'outgoing' }, requestPage);
      return {
        by: agent.id,
        request_ids: pages.flatMap(({ requests }) => requests.map(({ request_id }) => request_id)),
      };
    },
    /** The counts of an inbox, and its dead items. */
    async inbox(agent: Agent): Promise<StoredInbox> {
      const { ready, leased } = await get(agent, '/inbox', {}, inbox);
      const pages = await getAll(agent, '/inbox/dead', { limit: 100 }, deadPage);
      const dead = pages.flatMap(({ items }) =>
        items.map(({ id: event_id, attempts }) => ({ event_id, attempts })),
      );
      return { agent_id: agent.id, ready, leased, dead };
    },
    /** Downloads a file as an agent that can read its message. */
    async file(agent: Agent, attachment_id: string): Promise<FinalState['downloads'][number]> {
      const bytes = await download(agent, `/attachments/${attachment_id}/content`);
      return { attachment_id, by: agent.id, sha256: createHash('sha256').update(bytes).digest('hex') };
    },
  };
}

export type Collector = ReturnType<typeof createCollector>;

function createThreadReader({ get, getAll }: Get) {
  /** The marks of the members of a thread, as one of them reads it. */
  async function receipts(agent: Agent, thread_id: string): Promise<StoredReceipt[]> {
    const list = await get(agent, `/threads/${thread_id}/receipts`, {}, receiptList);
    return list.receipts.map((receipt) => ({
      agent_id: receipt.agent.id,
      delivered: receipt.delivered_up_to_sequence,
      read: receipt.read_up_to_sequence,
      handled: receipt.handled_up_to_sequence,
    }));
  }

  /** Ids of the messages that a search for the common word finds in a thread. */
  async function search(agent: Agent, thread_id: string): Promise<string[]> {
    const query = { q: searchWord, thread_id, limit: 50 };
    const pages = await getAll(agent, '/messages/search', query, searchPage);
    return pages.flatMap(({ results }) => results.map((result) => result.message.id));
  }

  async function readThread(
    agent: Agent,
    { id: thread_id, last_sequence, unread_count, members }: z.infer<typeof thread>,
    searched: boolean,
  ): Promise<StoredThread> {
    const query = { order: 'asc', limit: 100 };
    const pages = await getAll(agent, `/threads/${thread_id}/messages`, query, messagePage);
    const messages: StoredMessage[] = pages.flatMap((page) => page.messages);
    return {
      thread_id,
      agent_id: agent.id,
      members: members.map(({ id }) => id),
      last_sequence,
      unread_count,
      messages,
      receipts: await receipts(agent, thread_id),
      found: searched ? await search(agent, thread_id) : null,
    };
  }

  return { receipts, thread: readThread };
}
