import type { FeedEntryRef } from '../../repositories/feed/feed.ts';
import type { Cursors } from '../../work/cursors.ts';
import type { Work } from '../../work/unit-of-work.ts';
import { createBatchLoader } from '../../shared/batch-loader.ts';
import type { LiveEvent } from '../contract.ts';
import type { EventStore, SharedEvent } from './event-store.ts';
import type { RecentEntries } from './recent-entries.ts';

/** Consecutive entries of one agent's feed, with their events. */
export interface FeedPage {
  /** The position before the first event. Larger than requested when the entries in between are no longer kept. */
  after: number;
  events: readonly LiveEvent[];
  /** The position after the last event. */
  position: number;
  /** Whether the feed had no more entries when the page was read. */
  complete: boolean;
}

/** An entry whose event is missing or cannot be presented. A retry does not help. */
export class UnreadableFeed extends Error {
  override name = 'UnreadableFeed';
}

/**
 * `live`: a few new events of many agents. `replay`: many old events of a few agents. Each lane has its own queries, so agents
 * that return after a long time do not delay live events.
 */
export type Lane = 'live' | 'replay';

export interface Pages {
  /**
   * The page after a position, if its entries are cached. Entries of other processes may follow; a notification announces those.
   * @param notifiedNumber the largest number announced: a page that is complete reaches it.
   */
  readCached(agentId: string, after: number, notifiedNumber: number): FeedPage | undefined;
  /**
   * The page after a position, from the database.
   * @throws {UnreadableFeed}; any other error is one of the database and may be temporary.
   */
  read(agentId: string, after: number, lane: Lane): Promise<FeedPage>;
}

export interface PagesParts {
  feed: Pick<Work['db']['feed'], 'read'>;
  store: EventStore;
  recent: Pick<RecentEntries, 'after'>;
  cursors: FeedCursors;
}

/** Maximum JSON text of one page, in UTF-16 code units. A page has at least one event, however large. */
const maxPageLength = 256 * 1024;
/** Maximum events that are loaded together: bounds the memory of a batch of large messages. */
const maxEventsPerLoad = 400;

/** Maximum events in a page of the live lane. */
export const livePageEvents = 20;

const laneLimits = {
  live: { eventsPerPage: livePageEvents, pagesPerQuery: 500, maxQueries: 2 },
  replay: { eventsPerPage: 100, pagesPerQuery: 20, maxQueries: 2 },
} as const;

interface PageRequest {
  agent_id: string;
  after: number;
}

type EventsById = Pick<ReadonlyMap<string, SharedEvent>, 'get'>;

type FeedCursors = Pick<Cursors, 'encodeFeed'>;

/** Reads feeds page by page. Readers at the same position share a page, and concurrent requests share a query. */
export function createPages({ feed, store, recent, cursors }: PagesParts): Pages {
  const cachedEvents: EventsById = { get: store.getCached };

  function createLoader({ eventsPerPage, pagesPerQuery, maxQueries }: (typeof laneLimits)[Lane]) {
    async function load(requests: readonly PageRequest[]): Promise<(FeedPage | UnreadableFeed)[]> {
      const entryLists = await feed.read(requests, eventsPerPage);
      const pages: (FeedPage | UnreadableFeed)[] = [];
      let group: { request: PageRequest; entries: readonly FeedEntryRef[] }[] = [];
      let groupSize = 0;
      for (const [index, request] of requests.entries()) {
        const entries = entryLists[index] ?? [];
        group.push({ request, entries });
        groupSize += entries.length;
        if (groupSize < maxEventsPerLoad && index < requests.length - 1) continue;
        const ids = group.flatMap((member) => member.entries.map(({ event_id }) => event_id));
        const events = ids.length > 0 ? await store.load(ids) : new Map<string, SharedEvent>();
        for (const { request: pageRequest, entries: pageEntries } of group)
          pages.push(buildPage(pageRequest, pageEntries, events, eventsPerPage, cursors));
        group = [];
        groupSize = 0;
      }
      return pages;
    }

    return createBatchLoader<PageRequest, FeedPage | UnreadableFeed>({
      key: ({ agent_id, after }) => `${agent_id}:${after}`,
      load,
      maxBatchSize: pagesPerQuery,
      maxConcurrent: maxQueries,
    });
  }

  const loaders = { live: createLoader(laneLimits.live), replay: createLoader(laneLimits.replay) };

  return {
    readCached(agent_id, after, notifiedNumber) {
      const entries = recent.after(agent_id, after);
      if (!entries) return undefined;
      const page = buildPage({ agent_id, after }, entries, cachedEvents, livePageEvents, cursors);
      if (page instanceof UnreadableFeed) return undefined;
      return page.complete && page.position < notifiedNumber ? undefined : page;
    },
    async read(agent_id, after, lane) {
      const page = await loaders[lane]({ agent_id, after });
      if (page instanceof UnreadableFeed) throw page;
      return page;
    },
  };
}

/** Joins entries with their events, up to the first missing number, the first missing event or the size limit. */
function buildPage(
  { agent_id, after }: PageRequest,
  entries: readonly FeedEntryRef[],
  eventsById: EventsById,
  maxEntries: number,
  { encodeFeed }: FeedCursors,
): FeedPage | UnreadableFeed {
  const events: LiveEvent[] = [];
  const start = entries[0] ? entries[0].number - 1 : after;
  let position = start;
  let length = 0;
  for (const { number, event_id } of entries) {
    const event = eventsById.get(event_id);
    if (!event) {
      if (events.length > 0) break;
      return new UnreadableFeed(`entry ${number} of ${agent_id}: cannot present event ${event_id}`);
    }
    length += event.data_json.length;
    if (number !== position + 1 || (events.length > 0 && length > maxPageLength)) break;
    events.push({ ...event, cursor: encodeFeed(agent_id, number) });
    position = number;
  }
  const complete = events.length === entries.length && entries.length < maxEntries;
  return { after: start, events, position, complete };
}
