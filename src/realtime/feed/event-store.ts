import type { EventRow } from '../../repositories/feed/events.ts';
import { LRUCache } from 'lru-cache';
import type { EventType } from '../../../packages/core/src/events/list.ts';
import type { MessageRef } from '../../../packages/core/src/domain/feed/receipts.ts';
import { presentEventData } from '../../../packages/core/src/events/present-event.ts';
import type { Work } from '../../work/unit-of-work.ts';

/** The part of an event that all its receivers share. */
export interface SharedEvent {
  id: string;
  type: EventType;
  created_at: number;
  thread_id: string | null;
  /** The message that the event is about, if any. */
  message: MessageRef | null;
  data: object;
  data_json: string;
  /** W3C Trace Context of the request that caused the event, if it was traced. */
  traceparent?: string;
}

export interface EventStoreParts {
  feed: Pick<Work['db']['feed'], 'readEvents'>;
  log(message: string, error: unknown): void;
  /** Approximate memory for cached events, in bytes. */
  cache_bytes: number;
}

export interface EventStore {
  /** Events by id, from the cache or the database. Without those that do not exist or cannot be presented. */
  load(ids: Iterable<string>): Promise<ReadonlyMap<string, SharedEvent>>;
  getCached(id: string): SharedEvent | undefined;
  /** Caches a committed event, unless it cannot be presented. */
  put(row: EventRow): void;
  /** Drops the event of a message that was withdrawn or replaced, and caches it no more as it was before. */
  forgetMessage(messageId: string): void;
}
type EventsById = ReadonlyMap<string, SharedEvent>;

/** Maximum rows of one query: about 8 MB when every event carries a message of the maximum size. */
const rowsPerQuery = 200;

/** A process that the bus did not tell about a withdrawn or replaced message shows it as it was no longer than this, in milliseconds. */
const maxAgeMs = 30_000;

/** Messages changed while a query or a copy on the bus may still have them as they were. */
const maxChanged = 1_000;

/** Reads, validates and serializes each event once for all readers of the process, and caches the most recently used ones. */
export function createEventStore({ feed, log, cache_bytes }: EventStoreParts): EventStore {
  const cache = new LRUCache<string, SharedEvent>({
    maxSize: cache_bytes,
    sizeCalculation: estimateBytes,
    ttl: maxAgeMs,
  });
  const changed = new LRUCache<string, true>({ max: maxChanged, ttl: 2 * maxAgeMs });
  /** Queries in progress, by event id. */
  const pending = new Map<string, Promise<EventsById>>();

  let purgedAt = performance.now();

  function keep(event: SharedEvent): void {
    if (performance.now() - purgedAt > maxAgeMs) {
      purgedAt = performance.now();
      // The cache by itself removes an old event only to make room, or when a reader asks for it.
      cache.purgeStale();
    }
    const { id } = event.data as { id?: string };
    if (event.message === null || id === undefined || !changed.has(id)) cache.set(event.id, event);
  }

  async function query(ids: readonly string[]): Promise<EventsById> {
    const events = new Map<string, SharedEvent>();
    try {
      for (const row of await feed.readEvents(ids)) {
        const event = toSharedEvent(row, log);
        if (!event) continue;
        events.set(event.id, event);
        keep(event);
      }
    } finally {
      for (const id of ids) pending.delete(id);
    }
    return events;
  }

  return {
    // Live readers use it: hundreds of them ask for an event within seconds. `peek` does not count as a use.
    getCached: (id) => cache.peek(id),
    put(row) {
      const event = toSharedEvent(row, log);
      if (event) keep(event);
    },
    forgetMessage(messageId) {
      changed.set(messageId, true);
      // A copy, because the cache must not change while it is iterated.
      for (const [id, { message, data }] of Array.from(cache))
        if (message && (data as { id?: string }).id === messageId) cache.delete(id);
    },
    async load(ids) {
      const events = new Map<string, SharedEvent>();
      const otherQueries = new Set<Promise<EventsById>>();
      const missing: string[] = [];
      for (const id of new Set(ids)) {
        const event = cache.get(id);
        const running = pending.get(id);
        if (event) events.set(id, event);
        else if (running) otherQueries.add(running);
        else missing.push(id);
      }
      for (let start = 0; start < missing.length; start += rowsPerQuery) {
        const batch = missing.slice(start, start + rowsPerQuery);
        const running = query(batch);
        for (const id of batch) pending.set(id, running);
        for (const [id, event] of await running) events.set(id, event);
      }
      for (const running of otherQueries) {
        for (const [id, event] of await running) events.set(id, event);
      }
      return events;
    },
  };
}

function toSharedEvent(row: EventRow, log: EventStoreParts['log']): SharedEvent | undefined {
  const { id, type, created_at, thread_id, traceparent } = row;
  const message = row.message && toMessageRef(row.message);
  try {
    const data = presentEventData(row);
    const event = { id, type, created_at, thread_id, message, data, data_json: JSON.stringify(data) };
    return typeof traceparent === 'string' ? { ...event, traceparent } : event;
  } catch (error) {
    log(`cannot present event ${id}`, error);
    return undefined;
  }
}

function toMessageRef({ thread_id, sender_id, sequence }: MessageRef): MessageRef {
  return { thread_id, sender_id, sequence };
}

/** Two bytes per character, for the text and roughly the same for the object, and the overhead of both. */
function estimateBytes(event: SharedEvent): number {
  return 2 * event.data_json.length + 300;
}
