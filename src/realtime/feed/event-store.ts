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
  /** How much is kept for the next reader, in bytes, roughly. */
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

/** How much of a full cache stays when room is made. */
const keptShare = 0.9;

/** Holds each event once for the whole process: read once, checked once, made into JSON once, kept while it is in demand. */
export function createEventStore({ feed, log, cache_bytes }: EventStoreParts): EventStore {
  const cache = new Map<string, SharedEvent>();
  const loading = new Map<string, Promise<ReadonlyMap<string, SharedEvent>>>();
  let bytes = 0;

  function cached(id: string): SharedEvent | undefined {
    const event = cache.get(id);
    if (event) {
      // A map keeps the order of insertion: what was used last stands last and leaves last.
      cache.delete(id);
      cache.set(id, event);
    }
    return event;
  }

  function keep(event: SharedEvent): void {
    if (cache.has(event.id)) return;
    cache.set(event.id, event);
    bytes += estimateBytes(event);
    if (bytes <= cache_bytes) return;
    // Many at once: to find the oldest entry of a map takes as long as entries have left before it.
    for (const oldest of cache.values()) {
      if (bytes <= cache_bytes * keptShare) return;
      cache.delete(oldest.id);
      bytes -= estimateBytes(oldest);
    }
  }

  async function query(ids: readonly string[]): Promise<ReadonlyMap<string, SharedEvent>> {
    const found = new Map<string, SharedEvent>();
    try {
      for (const row of await feed.readEvents(ids)) {
        const event = share(row);
        if (!event) continue;
        found.set(event.id, event);
        keep(event);
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
    // Not moved to the end, as each of hundreds of readers would do: who asks here does so within seconds of its coming.
    getCached: (id) => cache.get(id),
    put(row) {
      const event = share(row);
      if (event) keep(event);
    },
    async load(ids) {
      const found = new Map<string, SharedEvent>();
      const elsewhere = new Set<Promise<ReadonlyMap<string, SharedEvent>>>();
      const missing: string[] = [];
      for (const id of new Set(ids)) {
        const event = cached(id);
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

/** The text, the object beside it (counted like the text), and what holds them. */
function estimateBytes(event: SharedEvent): number {
  return 2 * event.data_json.length + 300;
}
