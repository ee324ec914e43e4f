import { LRUCache } from 'lru-cache';
import type { EventType } from '../../domain/feed/events.ts';
import type { MessageRef } from '../../domain/feed/receipts.ts';
import { presentEventData } from '../../presenters/events.ts';
import type { Work } from '../../work/unit-of-work.ts';

/** What all receivers of an event share. */
export interface SharedEvent {
  id: string;
  type: EventType;
  created_at: number;
  thread_id: string | null;
  /** The message that it is about, if it is. */
  message: MessageRef | null;
  data: object;
  data_json: string;
  /** The trace of its cause (W3C Trace Context), where that was traced. */
  traceparent?: string;
}

export interface EventStoreParts {
  feed: Pick<Work['feed'], 'readEvents'>;
  log(message: string, error: unknown): void;
  /** Estimated size of the cached events. */
  cache_bytes: number;
}

export interface EventStore {
  /** The events by id. One that does not exist, or that cannot be shown, is left out. */
  load(ids: Iterable<string>): Promise<ReadonlyMap<string, SharedEvent>>;
  /** An event that is at hand. */
  getCached(id: string): SharedEvent | undefined;
  /** Takes a committed event for its first readers; one that cannot be shown is left out. */
  put(row: EventRow): void;
}

type EventRow = Awaited<ReturnType<Work['feed']['readEvents']>>[number];

/** Rows of one query, at most: about 8 MB when every one is as large as a message may be. */
const rowsPerQuery = 200;

/** Holds each event once for the whole process: read once, checked once, made into JSON once, kept while it is in demand. */
export function createEventStore({ feed, log, cache_bytes }: EventStoreParts): EventStore {
  const cache = new LRUCache<string, SharedEvent>({ maxSize: cache_bytes, sizeCalculation: estimateBytes });
  const loading = new Map<string, Promise<ReadonlyMap<string, SharedEvent>>>();

  async function query(ids: readonly string[]): Promise<ReadonlyMap<string, SharedEvent>> {
    const found = new Map<string, SharedEvent>();
    try {
      for (const row of await feed.readEvents(ids)) {
        const event = share(row);
        if (!event) continue;
        found.set(event.id, event);
        cache.set(event.id, event);
      }
    } finally {
      for (const id of ids) loading.delete(id);
    }
    return found;
  }

  function share(row: EventRow): SharedEvent | undefined {
    const { id, type, created_at, thread_id, traceparent } = row;
    const message = row.message && placeOf(row.message);
    try {
      const data = presentEventData(row);
      const shared = { id, type, created_at, thread_id, message, data, data_json: JSON.stringify(data) };
      return typeof traceparent === 'string' ? { ...shared, traceparent } : shared;
    } catch (error) {
      log(`event ${id} cannot be shown`, error);
      return undefined;
    }
  }

  return {
    // Hundreds of readers ask within seconds of the event; `peek` leaves the order of eviction as it is.
    getCached: (id) => cache.peek(id),
    put(row) {
      const event = share(row);
      if (event) cache.set(event.id, event);
    },
    async load(ids) {
      const found = new Map<string, SharedEvent>();
      const elsewhere = new Set<Promise<ReadonlyMap<string, SharedEvent>>>();
      const missing: string[] = [];
      for (const id of new Set(ids)) {
        const event = cache.get(id);
        const underWay = loading.get(id);
        if (event) found.set(id, event);
        else if (underWay) elsewhere.add(underWay);
        else missing.push(id);
      }
      for (let at = 0; at < missing.length; at += rowsPerQuery) {
        const part = missing.slice(at, at + rowsPerQuery);
        const queried = query(part);
        for (const id of part) loading.set(id, queried);
        for (const [id, event] of await queried) found.set(id, event);
      }
      for (const answer of elsewhere) {
        for (const [id, event] of await answer) found.set(id, event);
      }
      return found;
    },
  };
}

function placeOf({ thread_id, sender_id, sequence }: MessageRef): MessageRef {
  return { thread_id, sender_id, sequence };
}

/** The JSON text, the object (counted like the text), and the entry itself. */
function estimateBytes(event: SharedEvent): number {
  return 2 * event.data_json.length + 300;
}
