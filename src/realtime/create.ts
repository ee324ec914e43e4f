import type { Cursors } from '../domain/feed/cursors.ts';
import { DomainError } from '../domain/errors.ts';
import { canSeeEvent } from '../domain/feed/events.ts';
import type { FeedRange } from '../domain/feed/receipts.ts';
import type { Bus } from '../platform/bus/bus.ts';
import type { Work } from '../work/unit-of-work.ts';
import { createBatchLoader } from '../shared/batch-loader.ts';
import { createStreamRegistry } from './streams/registry.ts';
import type { LiveEvent, Realtime, StreamTransport, StreamMetrics } from './contract.ts';
import { createEventStore } from './feed/event-store.ts';
import { createLocalFanOut } from './streams/local-fan-out.ts';
import { createLongPoll } from './streams/long-poll.ts';
import { createPages, livePageEvents, UnreadableFeed } from './feed/pages.ts';
import { createRecentEntries } from './feed/recent-entries.ts';
import { createPresence, type PresenceParts } from './presence.ts';
import type { Receipts } from './receipts.ts';
import { type FeedBounds, startPosition } from './feed/start-position.ts';
import { createFeedStatus } from './feed/status.ts';
import { createStream } from './streams/stream.ts';
import { type PollIntervals, startWatch } from './streams/watch.ts';

export interface RealtimeParts {
  /** Bound to the pool. */
  feed: Work['feed'];
  /** Where it says which agents have streams and waiting calls here. Bound to the pool. */
  presence: PresenceParts['store'];
  bus: Bus;
  cursors: Cursors;
  log(message: string, error: unknown): void;
  /**
   * Which of these tokens, named as in `Actor.token_id`, are still good. It ends the streams of those that are not, should the
   * bus lose a revocation.
   */
  listValidTokens(tokenIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** Told of what was delivered and acknowledged. Absent: nobody is. */
  receipts?: Receipts;
  metrics?: StreamMetrics;
  /** Defaults: 3,000 and 500 ms. At their most uneven they end the stream of a revoked token within 5 s. */
  intervals?: PollIntervals;
  presence_intervals?: PresenceParts['intervals'];
  /** Streams and waiting callers of one agent in this process, at most; 1,000 by default. */
  streams_per_agent?: number;
  /** What recent events may take, in bytes; 32 MiB by default. */
  cache_bytes?: number;
  /** How long an agent is listened for, and online, after its last reader has left; 5,000 ms by default. */
  linger_ms?: number;
}

/** How long a reader waits for the bus before it relies on the poll, in milliseconds. */
const busTimeoutMs = 2_000;

/** A restore of the database takes longer than lines live. */
const recentEntryLimits = { life_ms: 5_000, entries_per_agent: livePageEvents, agents: 10_000 };

/** The one reader of feeds in this process. It reads nothing and starts no timer of weight until somebody asks. */
export function createRealtime(parts: RealtimeParts): Realtime {
  const { feed, bus, cursors, log, receipts, metrics, linger_ms = 5_000 } = parts;
  const presence = createPresence({ store: parts.presence, log, intervals: parts.presence_intervals });
  const channels = createStreamRegistry({
    bus,
    presence,
    log,
    linger_ms,
    bus_timeout_ms: busTimeoutMs,
    listeners_per_agent: parts.streams_per_agent ?? 1_000,
  });
  const store = createEventStore({ feed, log, cache_bytes: parts.cache_bytes ?? 32 * 1024 * 1024 });
  const recent = createRecentEntries(recentEntryLimits);
  const pages = createPages({ feed, store, recent, cursors });
  const intervals = parts.intervals ?? { healthy_ms: 3_000, unhealthy_ms: 500 };
  const watch = startWatch({ feed, bus, channels, intervals, listValidTokens: parts.listValidTokens, log });
  const bounds = createBatchLoader<string, FeedBounds>({
    key: (agentId) => agentId,
    async load(agentIds) {
      const rows = new Map((await feed.readBounds(agentIds)).map((row) => [row.agent_id, row]));
      return agentIds.map((agent_id) => rows.get(agent_id) ?? emptyFeed(agent_id));
    },
    maxBatchSize: 500,
    maxConcurrent: 2,
  });
  const acknowledge = createBatchLoader<{ agent_id: string; number: number }, FeedRange | null>({
    key: ({ agent_id, number }) => `${agent_id}:${number}`,
    async load(positions) {
      const passed = new Map((await feed.acknowledge(positions)).map((one) => [one.agent_id, one]));
      return positions.map(({ agent_id }) => passed.get(agent_id) ?? null);
    },
    maxBatchSize: 200,
    maxConcurrent: 1,
  });
  const standing = createFeedStatus({ feed, cursors });
  const page = createLongPoll({ pages, channels, cursors, bounds });
  let closed = false;

  /** Refuses when the process stops, and tells a database that is away from a fault of ours. */
  async function guarded<T>(run: () => Promise<T>): Promise<T> {
    if (closed) throw stopping();
    try {
      return await run();
    } catch (error) {
      if (error instanceof DomainError || error instanceof UnreadableFeed) throw error;
      throw new DomainError('UNAVAILABLE', 'The event log cannot be read just now; try again.', {
        retry_after: 1,
        cause: error,
      });
    }
  }

  return {
    open: (actor, options, reader) =>
      guarded(async () => {
        const { agent_id } = actor;
        const given = options.cursor === undefined ? undefined : cursors.decodeFeed(agent_id, options.cursor);
        const onDelivered = (events: readonly LiveEvent[]) => receipts?.delivered(agent_id, events);
        const { leave } = channels;
        const stream = createStream({
          actor,
          reader,
          pages,
          bounds,
          onDelivered,
          metrics,
          log,
          onClose: leave,
        });
        try {
          // The bus listens before the end of the feed is read: what comes in between rings.
          await channels.join(stream);
          const known = await bounds(agent_id);
          const { position, resumed, gap } = startPosition(known, given);
          const ended = stream.endedEarly();
          if (ended === 'token_ended')
            throw new DomainError('UNAUTHORIZED', 'The access token has ended; get a new one.');
          if (ended) throw stopping();
          stream.setStart(position, known.last_number);
          const { start, close } = stream;
          return { cursor: cursors.encodeFeed(agent_id, position), resumed, gap, start, close };
        } catch (error) {
          stream.close();
          throw error;
        }
      }),
    page: (actor, options) => guarded(() => page(actor, options)),
    feedStatus: (actor) => guarded(() => standing(actor)),
    acknowledge: (actor, cursor) =>
      guarded(async () => {
        const { agent_id } = actor;
        const passed = await acknowledge({ agent_id, number: cursors.decodeFeed(agent_id, cursor) });
        // Who is shown no messages cannot say that it has them.
        if (passed && canSeeEvent(actor.scopes, 'message.created')) receipts?.acknowledged([passed]);
      }),
    markDelivered: (actor, events) => receipts?.delivered(actor.agent_id, events),
    fanOut: createLocalFanOut({ channels, store, recent, log }),
    stats() {
      const counts = new Map<StreamTransport, number>([
        ['ws', 0],
        ['mcp', 0],
        ['poll', 0],
      ]);
      for (const { transport } of channels.listeners())
        counts.set(transport, (counts.get(transport) ?? 0) + 1);
      return counts;
    },
    revoke(isEnded) {
      for (const member of channels.listeners()) if (isEnded(member.actor)) member.end('token_ended');
    },
    async close() {
      closed = true;
      watch.close();
      for (const member of channels.listeners()) member.end('shutdown');
      await Promise.all([channels.close(), presence.close()]);
    },
  };
}

function emptyFeed(agent_id: string): FeedBounds {
  return { agent_id, last_number: 0, acknowledged_number: null, first_number: null, ended_stretches: null };
}

function stopping(): DomainError {
  return new DomainError('UNAVAILABLE', 'This server stops; connect again.', { retry_after: 1 });
}
