import type { Cursors } from '../../domain/feed/cursors.ts';
import type { Work } from '../../work/unit-of-work.ts';
import { createBatchLoader } from '../../shared/batch-loader.ts';
import type { LiveEvent } from '../contract.ts';
import type { EventStore, SharedEvent } from './event-store.ts';
import { createNextCursors } from './next-cursors.ts';
import type { RecentEntries } from './recent-entries.ts';

/** A stretch of one agent's feed, without a hole. */
export interface FeedPage {
  /** What the first event follows. Larger than what was asked for when entries in between are no longer kept. */
  after: number;
  events: readonly LiveEvent[];
  /** What lies behind the last event. */
  position: number;
  /** Whether nothing was left when it was read. */
  complete: boolean;
}

/** An entry of the feed whose event is not there or cannot be shown. To try again does not help. */
export class UnreadableFeed extends Error {
  override name = 'UnreadableFeed';
}

/**
 * `live`: a few new events of many agents; `replay`: many old events of a few. They do not wait for each other, so that agents
 * who come back after a long time hold up nobody.
 */
export type Lane = 'live' | 'replay';

export interface Pages {
  /**
   * The page behind a position, if this process wrote it itself and has it at hand. It may be followed by what others wrote: that
   * rings, or has rung already, and then the log is to be read.
   * @param heard how far the feed is said to go: the page leads there, or is not complete.
   */
  readCached(agentId: string, after: number, heard: number): FeedPage | undefined;
  /**
   * The page behind a position, from the log.
   * @throws {UnreadableFeed}; any other error is one of the database and may pass.
   */
  read(agentId: string, after: number, lane: Lane): Promise<FeedPage>;
}

export interface PagesParts {
  feed: Pick<Work['feed'], 'read'>;
  store: EventStore;
  recent: Pick<RecentEntries, 'after'>;
  cursors: FeedCursors;
}

/** JSON text in one page, at most, in UTF-16 units; one event passes however large it is. */
const maxPageLength = 256 * 1024;
/** Events that are loaded together, at most: bounds what a batch of large messages takes. */
const maxEventsPerLoad = 400;

/** Events in a page of the live lane, at most. */
export const livePageEvents = 20;

const laneLimits = {
  live: { events: livePageEvents, size: 500, lanes: 2 },
  replay: { events: 100, size: 20, lanes: 2 },
} as const;

interface Position {
  agent_id: string;
  after: number;
}

type Entry = Awaited<ReturnType<Work['feed']['read']>>[number][number];

type Events = Pick<ReadonlyMap<string, SharedEvent>, 'get'>;

type FeedCursors = Pick<Cursors, 'encodeFeed'>;

/** Live readers whose next cursors are kept, at most. */
const maxNextCursors = 10_000;

/** Reads feeds page by page: readers at one position share the page, and what many ask for at once is one query. */
export function createPages({ feed, store, recent, cursors }: PagesParts): Pages {
  const liveCursors = createNextCursors(cursors, maxNextCursors);

  function page(
    { agent_id, after }: Position,
    lines: readonly Entry[],
    shared: Events,
    limit: number,
    { encodeFeed }: FeedCursors,
  ) {
    const events: LiveEvent[] = [];
    const start = lines[0] ? lines[0].number - 1 : after;
    let position = start;
    let length = 0;
    for (const { number, event_id } of lines) {
      const event = shared.get(event_id);
      if (!event) {
        if (events.length > 0) break;
        return new UnreadableFeed(`entry ${number} of ${agent_id}: event ${event_id} cannot be shown`);
      }
      length += event.data_json.length;
      if (number !== position + 1 || (events.length > 0 && length > maxPageLength)) break;
      events.push({ ...event, cursor: encodeFeed(agent_id, number) });
      position = number;
    }
    const complete = events.length === lines.length && lines.length < limit;
    return { after: start, events, position, complete };
  }

  function reader(settings: (typeof laneLimits)[Lane]) {
    async function load(positions: readonly Position[]): Promise<(FeedPage | UnreadableFeed)[]> {
      const lists = await feed.read(positions, settings.events);
      const pages: (FeedPage | UnreadableFeed)[] = [];
      let part: { position: Position; lines: readonly Entry[] }[] = [];
      let size = 0;
      for (const [index, position] of positions.entries()) {
        const lines = lists[index] ?? [];
        part.push({ position, lines });
        size += lines.length;
        if (size < maxEventsPerLoad && index < positions.length - 1) continue;
        const ids = part.flatMap((entry) => entry.lines.map((line) => line.event_id));
        const events = ids.length > 0 ? await store.load(ids) : new Map<string, SharedEvent>();
        for (const entry of part)
          pages.push(page(entry.position, entry.lines, events, settings.events, cursors));
        part = [];
        size = 0;
      }
      return pages;
    }

    return createBatchLoader<Position, FeedPage | UnreadableFeed>({
      key: ({ agent_id, after }) => `${agent_id}:${after}`,
      load,
      maxBatchSize: settings.size,
      maxConcurrent: settings.lanes,
    });
  }

  const readers = { live: reader(laneLimits.live), replay: reader(laneLimits.replay) };

  return {
    readCached(agent_id, after, heard) {
      const lines = recent.after(agent_id, after);
      if (!lines) return undefined;
      const found = page({ agent_id, after }, lines, { get: store.getCached }, livePageEvents, liveCursors);
      if (found instanceof UnreadableFeed) return undefined;
      return found.complete && found.position < heard ? undefined : found;
    },
    async read(agent_id, after, lane) {
      const found = await readers[lane]({ agent_id, after });
      if (found instanceof UnreadableFeed) throw found;
      return found;
    },
  };
}
