import { createHash } from 'node:crypto';
import type { Cursors } from '../src/work/cursors.ts';
import { eventPage } from './transports/long-poll.ts';
import { searchWord } from './load/actions.ts';
import { createReadingClient } from './load/call.ts';
import type {
  FeedHistory,
  FinalState,
  SeenEvent,
  StoredInbox,
  StoredReceipt,
  StoredThread,
} from './history.ts';
import type { Agent } from './load/population.ts';

/** Reads the stored state. Retries while the service cannot answer; throws on a permanent error. */
export function createCollector(base: string, cursors: Cursors, signal: AbortSignal) {
  const options = { signal };
  const clientOf = (agent: Agent) => createReadingClient(base, agent);

  const { receipts, threads } = createThreadReader(clientOf, options);

  return {
    receipts,
    /** The events of the agent after a position, or from its oldest event on, and the cursor after them. */
    async feed(agent: Agent, start: string | null): Promise<FeedHistory & { cursor: string | null }> {
      const { call } = clientOf(agent);
      const events: SeenEvent[] = [];
      let cursor = start;
      for (let complete = false; !complete;) {
        const input = { limit: 100, ...(cursor !== null && { cursor }) };
        const page = eventPage.parse(await call({ method: 'GET', path: '/events' }, input, options));
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
    threads,
    /** The contact requests that an agent made. */
    async requests(agent: Agent): Promise<FinalState['requests'][number]> {
      const { contacts } = clientOf(agent).client;
      const requests = await collectAll(contacts.listRequests({ direction: 'outgoing' }, options));
      return { by: agent.id, request_ids: requests.map(({ request_id }) => request_id) };
    },
    /** The tasks that an agent gave or was given. */
    async tasks(agent: Agent): Promise<FinalState['read_tasks'][number]> {
      const { tasks } = clientOf(agent).client;
      const list = await collectAll(tasks.list({ limit: 100 }, options));
      return {
        agent_id: agent.id,
        tasks: list.map(({ id, state, generation }) => ({ id, state, generation })),
      };
    },
    /** The counts of an inbox, and its dead items. */
    async inbox(agent: Agent): Promise<StoredInbox> {
      const { inbox } = clientOf(agent).client;
      const { ready, leased } = await inbox.get(options);
      const items = await collectAll(inbox.listDeadItems({ limit: 100 }, options));
      const dead = items.map(({ id: event_id, attempts }) => ({ event_id, attempts }));
      return { agent_id: agent.id, ready, leased, dead };
    },
    /** Downloads a file as an agent that can read its message. */
    async file(agent: Agent, attachment_id: string): Promise<FinalState['downloads'][number]> {
      const { body } = await clientOf(agent).client.attachments.download(attachment_id, options);
      const hash = createHash('sha256');
      for await (const bytes of body) hash.update(bytes);
      return { attachment_id, by: agent.id, sha256: hash.digest('hex') };
    },
  };
}

export type Collector = ReturnType<typeof createCollector>;

async function collectAll<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

function createThreadReader(
  clientOf: (agent: Agent) => ReturnType<typeof createReadingClient>,
  options: { signal: AbortSignal },
) {
  /** The marks of the members of a thread, as one of them reads it. */
  async function receipts(agent: Agent, thread_id: string): Promise<StoredReceipt[]> {
    const { client } = clientOf(agent);
    const list = await collectAll(client.threads.listReceipts({ thread_id }, options));
    return list.map((receipt) => ({
      agent_id: receipt.agent.id,
      delivered: receipt.delivered_up_to_sequence,
      read: receipt.read_up_to_sequence,
      handled: receipt.handled_up_to_sequence,
    }));
  }

  /** The threads of an agent with all messages. Threads for which `searches` is true include search results. */
  async function threads(agent: Agent, searches: (thread_id: string) => boolean): Promise<StoredThread[]> {
    const { client } = clientOf(agent);
    const stored: StoredThread[] = [];
    for await (const thread of client.threads.list({ limit: 100 }, options)) {
      const { id: thread_id, last_sequence, unread_count, members } = thread;
      const listed = client.messages.list({ thread_id, order: 'asc', limit: 100 }, options);
      const found = searches(thread_id)
        ? await collectAll(client.messages.search({ q: searchWord, thread_id, limit: 50 }, options))
        : null;
      stored.push({
        thread_id,
        agent_id: agent.id,
        members: members.map(({ id }) => id),
        last_sequence,
        unread_count,
        messages: (await collectAll(listed)).map((message) => ({ ...message })),
        receipts: await receipts(agent, thread_id),
        found: found && found.map(({ message }) => message.id),
      });
    }
    return stored;
  }

  return { receipts, threads };
}
