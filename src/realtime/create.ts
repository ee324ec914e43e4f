import type { Actor } from '../../packages/core/src/domain/auth/actor.ts';
import type { Cursors } from '../work/cursors.ts';
import { DomainError } from '../../packages/core/src/domain/errors.ts';
import { canSeeEvent } from '../../packages/core/src/events/feed-event.ts';
import type { Bus } from '../platform/bus/bus.ts';
import type { Work } from '../work/unit-of-work.ts';
import { createStreamRegistry, type StreamRegistry } from './streams/registry.ts';
import type { OpenStream, Realtime, StreamReader, StreamTransport, StreamMetrics } from './contract.ts';
import { createEventStore } from './feed/event-store.ts';
import { createFeedLoaders } from './feed/loaders.ts';
import { createInboxWatches } from './streams/inbox-watch.ts';
import { createLocalFanOut } from './streams/local-fan-out.ts';
import { tokenEnded } from './streams/waiter.ts';
import { createLongPoll } from './streams/long-poll.ts';
import { createPages, livePageEvents, UnreadableFeed } from './feed/pages.ts';
import { createRecentEntries } from './feed/recent-entries.ts';
import { createPresence, type PresenceParts } from './presence.ts';
import type { FeedWatch } from './feed-watch.ts';
import type { Receipts } from './receipts.ts';
import { createOwnerWatch } from './streams/owner-watch.ts';
import { decodeStart, startPosition } from './feed/start-position.ts';
import { createFeedStatus } from './feed/status.ts';
import { Stream, type StreamParts } from './streams/stream.ts';
import { type PollIntervals, startWatch } from './streams/watch.ts';

export interface RealtimeParts {
  /** Bound to the pool. */
  feed: Work['db']['feed'];
  /** Stores which agents have readers in this process. Bound to the pool. */
  presence: PresenceParts['store'];
  bus: Bus;
  cursors: Cursors;
  log(message: string, error: unknown): void;
  /** The valid ones of these tokens (`Actor.token_id`). It catches revocations that the bus dropped. */
  listValidTokens(tokenIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** Records what was delivered and acknowledged. Absent: nothing is recorded. */
  receipts?: Receipts;
  /** Wake-ups of feeds, for readers that are none of their agents. */
  watch: FeedWatch;
  /** The agents whose conversations an agent may read, at most `limit`. */
  listReadAgents(agentId: string, limit: number): Promise<string[]>;
  metrics?: StreamMetrics;
  /** Defaults: 3,000 and 500 ms. With jitter, the stream of a revoked token ends within 5 s. */
  intervals?: PollIntervals;
  presence_intervals?: PresenceParts['intervals'];
  /** Maximum open streams and waiting requests of one agent in this process; 1,000 by default. */
  streams_per_agent?: number;
  /** Memory for recent events, in bytes; 32 MiB by default. */
  cache_bytes?: number;
  /** How long an agent stays online after its last reader has left, in milliseconds; 5,000 by default. */
  linger_ms?: number;
}

/** Shorter than any restore of the database: entries of the old timeline must not reach readers of the new one. */
const recentEntryLimits = { life_ms: 5_000, entries_per_agent: livePageEvents, agents: 10_000 };

/** Creates the reader of feeds of this process. It runs no query until somebody reads. */
export function createRealtime(parts: RealtimeParts): Realtime {
  const { feed, bus, cursors, log, receipts, metrics, listValidTokens, linger_ms = 5_000 } = parts;
  const presence = createPresence({ store: parts.presence, log, intervals: parts.presence_intervals });
  const registry = createStreamRegistry({
    bus,
    presence,
    linger_ms,
    listeners_per_agent: parts.streams_per_agent ?? 1_000,
  });
  const store = createEventStore({ feed, log, cache_bytes: parts.cache_bytes ?? 32 * 1024 * 1024 });
  const recent = createRecentEntries(recentEntryLimits);
  const pages = createPages({ feed, store, recent, cursors });
  const intervals = parts.intervals ?? { healthy_ms: 3_000, unhealthy_ms: 500 };
  const watch = startWatch({ feed, bus, registry, intervals, listValidTokens, log });
  const { bounds, acknowledge } = createFeedLoaders(feed);
  const status = createFeedStatus({ feed, cursors });
  const readPage = createLongPoll({ pages, registry, cursors, bounds });
  const inboxWatches = createInboxWatches(registry);
  const openStream = createStreamOpener({ registry, cursors, pages, bounds, receipts, metrics, log });
  const stopping = new AbortController();
  const ofOwner = createOwnerWatch({ ...parts, pages, bounds, stopping: stopping.signal });
  let closed = false;

  /** Rejects calls during shutdown, and reports a database that does not respond as UNAVAILABLE. */
  async function guarded<T>(run: () => Promise<T>): Promise<T> {
    if (closed) throw shuttingDown();
    try {
      return await run();
    } catch (error) {
      if (error instanceof DomainError || error instanceof UnreadableFeed) throw error;
      throw new DomainError('UNAVAILABLE', 'The event feed is temporarily unavailable. Try again.', {
        retry_after: 1,
        cause: error,
      });
    }
  }

  return {
    open: (actor, options, reader) => guarded(() => openStream(actor, options.cursor, reader)),
    page: (actor, options) => guarded(() => readPage(actor, options)),
    startOf: ({ agent_id }, cursor) =>
      guarded(async () => {
        const requested = decodeStart(cursors, agent_id, cursor);
        const { position, gap } = startPosition(await bounds(agent_id), requested);
        return { cursor: cursors.encodeFeed(agent_id, position), gap };
      }),
    feedStatus: (actor, position, head) => guarded(() => status.read(actor, position, head)),
    acknowledge: (actor, cursor) =>
      guarded(async () => {
        const { agent_id } = actor;
        const range = await acknowledge({ agent_id, number: cursors.decodeFeed(agent_id, cursor) });
        // A token that cannot see messages cannot confirm their delivery.
        if (range && canSeeEvent(actor.scopes, 'message.created')) receipts?.acknowledged([range]);
      }),
    watchInbox: (actor) => guarded(() => inboxWatches.open(actor)),
    notifyInboxes: inboxWatches.notify,
    ofOwner: {
      page: (actor, options) => guarded(() => ofOwner.page(actor, options)),
      open: (actor, options, reader) => guarded(() => ofOwner.open(actor, options, reader)),
    },
    markDelivered: (actor, events) => receipts?.delivered(actor.agent_id, events),
    forgetMessage: store.forgetMessage,
    forgetTimeline: () => [recent, status].forEach((cache) => cache.clear()),
    fanOut: createLocalFanOut({ registry, store, recent, status, log }),
    stats: () => countByTransport(registry),
    revoke(isEnded) {
      for (const listener of registry.listeners()) if (isEnded(listener.actor)) listener.end('token_ended');
    },
    async close() {
      closed = true;
      stopping.abort();
      watch.close();
      for (const listener of registry.listeners()) listener.end('shutdown');
      registry.close();
      await presence.close();
    },
  };
}

interface StreamOpenerParts extends Omit<StreamParts, 'onClose'> {
  registry: StreamRegistry;
  cursors: Cursors;
}

function createStreamOpener({ registry, ...parts }: StreamOpenerParts) {
  const streamParts: StreamParts = { ...parts, onClose: registry.remove };

  return async function openStream(
    actor: Actor,
    cursor: string | undefined,
    reader: StreamReader,
  ): Promise<OpenStream> {
    const { agent_id } = actor;
    const requested = decodeStart(parts.cursors, agent_id, cursor);
    const stream = new Stream(streamParts, actor, reader);
    try {
      // Subscribe before reading the end of the feed: what is committed in between causes a notification.
      registry.add(stream);
      const bounds = await parts.bounds(agent_id);
      const start = startPosition(bounds, requested);
      const ended = stream.endedEarly();
      if (ended === 'token_ended') throw tokenEnded();
      if (ended) throw shuttingDown();
      stream.setStart(start, bounds.last_number);
      return stream;
    } catch (error) {
      stream.close();
      throw error;
    }
  };
}

function countByTransport(registry: StreamRegistry): Map<StreamTransport, number> {
  const counts = new Map<StreamTransport, number>([
    ['ws', 0],
    ['mcp', 0],
    ['poll', 0],
  ]);
  for (const { transport } of registry.listeners()) counts.set(transport, (counts.get(transport) ?? 0) + 1);
  return counts;
}

function shuttingDown(): DomainError {
  return new DomainError('UNAVAILABLE', 'The server is shutting down. Reconnect.', { retry_after: 1 });
}
