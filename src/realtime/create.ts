import type { Cursors } from '../domain/cursors.ts';
import { DomainError } from '../domain/errors.ts';
import { maySee } from '../domain/events.ts';
import type { FeedStretch } from '../domain/receipts.ts';
import type { Bus } from '../platform/bus.ts';
import type { Work } from '../unit-of-work.ts';
import { batching } from './batching.ts';
import { createChannels } from './channels.ts';
import type { LiveEvent, Realtime, StreamDoor, StreamMeter } from './contract.ts';
import { createEventStore } from './event-store.ts';
import { createHandOver } from './hand-over.ts';
import { createLongPoll } from './long-poll.ts';
import { createPages, livePageEvents, UnreadableFeed } from './pages.ts';
import { createRecentLines } from './recent-lines.ts';
import { createPresence, type PresenceParts } from './presence.ts';
import type { Receipts } from './receipts.ts';
import { type FeedBounds, startPosition } from './start-position.ts';
import { createStandings } from './standings.ts';
import { createStream } from './stream.ts';
import { type PollIntervals, startWatch } from './watch.ts';

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
  goodTokens(tokenIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** Told of what was delivered and acknowledged. Absent: nobody is. */
  receipts?: Receipts;
  meter?: StreamMeter;
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
const busPatience = 2_000;

/** A restore of the database takes longer than lines live. */
const recentLines = { life_ms: 5_000, lines_per_agent: livePageEvents, agents: 10_000 };

/** The one reader of feeds in this process. It reads nothing and starts no timer of weight until somebody asks. */
export function createRealtime(parts: RealtimeParts): Realtime {
  const { feed, bus, cursors, log, receipts, meter, linger_ms = 5_000 } = parts;
  const presence = createPresence({ store: parts.presence, log, intervals: parts.presence_intervals });
  const channels = createChannels({
    bus,
    presence,
    log,
    linger_ms,
    patience_ms: busPatience,
    members_per_agent: parts.streams_per_agent ?? 1_000,
  });
  const store = createEventStore({ feed, log, cache_bytes: parts.cache_bytes ?? 32 * 1024 * 1024 });
  const recent = createRecentLines(recentLines);
  const pages = createPages({ feed, store, recent, cursors });
  const intervals = parts.intervals ?? { healthy_ms: 3_000, unhealthy_ms: 500 };
  const watch = startWatch({ feed, bus, channels, intervals, goodTokens: parts.goodTokens, log });
  const bounds = batching<string, FeedBounds>({
    key: (agentId) => agentId,
    async load(agentIds) {
      const rows = new Map((await feed.bounds(agentIds)).map((row) => [row.agent_id, row]));
      return agentIds.map((agent_id) => rows.get(agent_id) ?? emptyFeed(agent_id));
    },
    size: 500,
    lanes: 2,
  });
  const acknowledge = batching<{ agent_id: string; number: number }, FeedStretch | null>({
    key: ({ agent_id, number }) => `${agent_id}:${number}`,
    async load(positions) {
      const passed = new Map((await feed.acknowledge(positions)).map((one) => [one.agent_id, one]));
      return positions.map(({ agent_id }) => passed.get(agent_id) ?? null);
    },
    size: 200,
    lanes: 1,
  });
  const standing = createStandings({ feed, cursors });
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
        const delivered = (events: readonly LiveEvent[]) => receipts?.delivered(agent_id, events);
        const { leave } = channels;
        const stream = createStream({ actor, reader, pages, bounds, delivered, meter, log, leave });
        try {
          // The bus listens before the end of the feed is read: what comes in between rings.
          await channels.join(stream);
          const known = await bounds(agent_id);
          const { position, resumed, gap } = startPosition(known, given);
          const ended = stream.endedEarly();
          if (ended === 'token_ended')
            throw new DomainError('UNAUTHORIZED', 'The access token has ended; get a new one.');
          if (ended) throw stopping();
          stream.place(position, known.last_number);
          const { start, close } = stream;
          return { cursor: cursors.encodeFeed(agent_id, position), resumed, gap, start, close };
        } catch (error) {
          stream.close();
          throw error;
        }
      }),
    page: (actor, options) => guarded(() => page(actor, options)),
    standing: (actor) => guarded(() => standing(actor)),
    acknowledge: (actor, cursor) =>
      guarded(async () => {
        const { agent_id } = actor;
        const passed = await acknowledge({ agent_id, number: cursors.decodeFeed(agent_id, cursor) });
        // Who is shown no messages cannot say that it has them.
        if (passed && maySee(actor.scopes, 'message.created')) receipts?.acknowledged([passed]);
      }),
    taken: (actor, events) => receipts?.delivered(actor.agent_id, events),
    handOver: createHandOver({ channels, store, recent, log }),
    census() {
      const counts = new Map<StreamDoor, number>([
        ['ws', 0],
        ['mcp', 0],
        ['poll', 0],
      ]);
      for (const { door } of channels.members()) counts.set(door, (counts.get(door) ?? 0) + 1);
      return counts;
    },
    revoke(isEnded) {
      for (const member of channels.members()) if (isEnded(member.actor)) member.end('token_ended');
    },
    async close() {
      closed = true;
      watch.close();
      for (const member of channels.members()) member.end('shutdown');
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
