import { setTimeout as pause } from 'node:timers/promises';
import type { Actor } from '../../../packages/core/src/domain/auth/actor.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { eventOf } from '../../../packages/core/src/events/list.ts';
import type { Cursors } from '../../work/cursors.ts';
import type { EventPage, LiveEvent, OwnerWatch, StreamReader } from '../contract.ts';
import { openOwnerPositions, type OwnerPositions } from '../feed/owner-positions.ts';
import type { FeedPage, Pages } from '../feed/pages.ts';
import { type FeedBounds, startPosition } from '../feed/start-position.ts';
import type { FeedWatch } from '../feed-watch.ts';
import { steadyNow } from '../../shared/clock.ts';
import { tokenEnded } from './waiter.ts';

export interface OwnerWatchParts {
  pages: Pick<Pages, 'read'>;
  bounds(agentId: string): Promise<FeedBounds>;
  cursors: Pick<Cursors, 'encode' | 'decode'>;
  watch: FeedWatch;
  /** The agents whose conversations this agent may read now, at most `limit`. */
  listReadAgents(agentId: string, limit: number): Promise<string[]>;
  listValidTokens(tokenIds: readonly string[]): Promise<ReadonlySet<string>>;
  log(message: string, error: unknown): void;
  /** Aborted when the process stops. */
  stopping: AbortSignal;
}

/** The cursor of each event has a position for each of them. */
const maxAgents = 100;
/** Feeds that are read together: bounds the memory of a page. */
const maxFeedsPerRead = 10;
const maxReadersPerOwner = 30;
const eventsPerPage = 50;

/** Milliseconds between two checks of token, rights and feeds. Wake-ups only make it sooner, but not sooner than the second. */
const checkMs = 3_000;
const minPauseMs = 100;

/**
 * Merges feeds. Each agent has a position of its own, and all of them are one cursor, so nothing is missed or repeated when a reader resumes.
 * The reader is in no registry of streams: no agent is online by it, and nothing counts as delivered. Like a page of the console, it reads the
 * token, the agents and the ends of their feeds every three seconds and after a wake-up, and then pages as every reader does.
 */
export function createOwnerWatch(parts: OwnerWatchParts): OwnerWatch {
  const count = createReaderCount();

  function openReader(actor: Actor, cursor: string | undefined) {
    const positions = openOwnerPositions(parts.cursors, `watch_owner:${actor.agent_id}`, cursor);
    count(actor, 1);
    const watcher = parts.watch.open();
    return {
      positions,
      /** The next page: waits until `deadline` (ms) for the first event. */
      async read({ limit, deadline, signal }: { limit: number; deadline: number; signal: AbortSignal }) {
        for (let isFirst = true; ; isFirst = false) {
          if (!isFirst) await requireToken(parts, actor);
          const agents = await listAgents(parts, actor);
          watcher.follow(agents);
          const page = await collect(parts, agents, positions, limit);
          const left = deadline - steadyNow();
          if (page.events.length > 0 || page.gap || !page.complete || left <= 0 || signal.aborted)
            return page;
          await pause(minPauseMs);
          await watcher.wait(Math.min(checkMs, left), signal);
        }
      },
      close() {
        watcher.close();
        count(actor, -1);
      },
    };
  }

  return {
    async page(actor, { cursor, limit, wait_ms, signal }) {
      const reader = openReader(actor, cursor);
      const signals = signal ? [signal, parts.stopping] : [parts.stopping];
      try {
        return await reader.read({
          limit,
          deadline: steadyNow() + wait_ms,
          signal: AbortSignal.any(signals),
        });
      } finally {
        reader.close();
      }
    },
    async open(actor, { cursor }, consumer) {
      const reader = openReader(actor, cursor);
      const { positions } = reader;
      const closing = new AbortController();
      const signal = AbortSignal.any([closing.signal, parts.stopping]);
      const close = () => {
        if (!closing.signal.aborted) reader.close();
        closing.abort();
      };
      try {
        const agents = await listAgents(parts, actor);
        const starts = await readStarts(parts, agents, positions);
        const pending = starts.reduce((sum, { position, last }) => sum + last - position, 0);
        return {
          get cursor() {
            return positions.encode();
          },
          resumed: cursor !== undefined && cursor !== 'latest',
          gap: starts.some(({ gap }) => gap),
          pending_events: pending,
          start() {
            void follow(parts, { actor, consumer, read: reader.read, signal }).finally(close);
          },
          close,
        };
      } catch (error) {
        close();
        throw error;
      }
    },
  };
}

/** Counts the open readers of each owner. */
function createReaderCount() {
  const readers = new Map<string, number>();
  /** @throws {DomainError} RATE_LIMITED */
  return ({ owner_id }: Actor, change: 1 | -1): void => {
    const open = readers.get(owner_id) ?? 0;
    if (change === 1 && open >= maxReadersPerOwner) {
      const message = `The agents of one owner can have ${maxReadersPerOwner} open readers with watch=owner per server process. Close or share one.`;
      throw new DomainError('RATE_LIMITED', message, { retry_after: 5 });
    }
    if (open + change > 0) readers.set(owner_id, open + change);
    else readers.delete(owner_id);
  };
}

interface Following {
  actor: Actor;
  consumer: StreamReader;
  read: (options: { limit: number; deadline: number; signal: AbortSignal }) => Promise<EventPage>;
  signal: AbortSignal;
}

/** Delivers page after page until the consumer leaves, the token ends or the process stops. */
async function follow(parts: OwnerWatchParts, { actor, consumer, read, signal }: Following): Promise<void> {
  const wants = (event: LiveEvent) => consumer.wants?.(event) ?? true;
  try {
    while (!signal.aborted) {
      await requireToken(parts, actor);
      const { events, gap } = await read({ limit: eventsPerPage, deadline: steadyNow() + checkMs, signal });
      if (gap && !signal.aborted) return consumer.onEnded('position_expired');
      const wanted = events.filter(wants);
      if (wanted.length > 0 && !signal.aborted) await consumer.deliver(wanted);
    }
    if (parts.stopping.aborted) consumer.onEnded('shutdown');
  } catch (error) {
    const isOver = error instanceof DomainError && error.code === 'UNAUTHORIZED';
    if (!isOver) parts.log(`the watch of the owner of ${actor.agent_id} failed`, error);
    consumer.onEnded(isOver ? 'token_ended' : 'failed');
  }
}

/** @throws {DomainError} UNAUTHORIZED */
async function requireToken({ listValidTokens }: OwnerWatchParts, actor: Actor): Promise<void> {
  const { expires_at, token_id } = actor;
  if (steadyNow() < expires_at && (await listValidTokens([token_id])).has(token_id)) return;
  throw tokenEnded();
}

/** @throws {DomainError} VALIDATION_ERROR */
async function listAgents({ listReadAgents }: OwnerWatchParts, { agent_id }: Actor): Promise<string[]> {
  const agents = await listReadAgents(agent_id, maxAgents + 1);
  if (agents.length <= maxAgents) return agents;
  const message = `watch=owner covers at most ${maxAgents} agents, and this token can read more. Read the feed of each agent with a token of its own.`;
  throw new DomainError('VALIDATION_ERROR', message);
}

/** Where each feed continues, and whether events before that are lost. Moves the positions there. */
async function readStarts({ bounds }: OwnerWatchParts, agents: readonly string[], positions: OwnerPositions) {
  const now = Date.now();
  const starts = await Promise.all(
    agents.map(async (id) => {
      const found = await bounds(id);
      const { position, gap } = startPosition(found, positions.startOf(id));
      return { id, position, gap, last: found.last_number };
    }),
  );
  for (const { id, position } of starts) positions.set(id, position);
  positions.keep(agents, now);
  return starts;
}

/** Reads up to `limit` events of these agents, in the order of time as far as it is known, and moves the positions over them. */
async function collect(
  parts: OwnerWatchParts,
  agents: readonly string[],
  positions: OwnerPositions,
  limit: number,
): Promise<EventPage> {
  const starts = await readStarts(parts, agents, positions);
  const behind = starts.filter(({ position, last }) => last > position);
  // From another one each time, so that busy agents do not hide the others.
  const offset = Math.floor(Math.random() * behind.length);
  const chosen = [...behind.slice(offset), ...behind.slice(0, offset)].slice(0, maxFeedsPerRead);
  const read = await Promise.all(
    chosen.map(async ({ id, position }) => ({ id, page: await parts.pages.read(id, position, 'live') })),
  );
  const { events, isWhole } = merge(read, positions, limit);
  return {
    events,
    cursor: positions.encode(),
    complete: isWhole && chosen.length === behind.length && read.every(({ page }) => page.complete),
    gap: starts.some(({ gap }) => gap) || read.some(({ page }, at) => page.after !== chosen[at]?.position),
  };
}

/** Takes the oldest of the next events again and again. The order in each feed stays. */
function merge(
  read: readonly { id: string; page: FeedPage }[],
  positions: OwnerPositions,
  limit: number,
): { events: LiveEvent[]; isWhole: boolean } {
  const queues = read.map(({ id, page }) => ({ id, number: page.after, rest: [...page.events] }));
  for (const { id, number } of queues) positions.set(id, number);
  const events: LiveEvent[] = [];
  while (events.length < limit) {
    const [first] = queues
      .filter(({ rest }) => rest.length > 0)
      .sort((one, other) => (one.rest[0]?.created_at ?? 0) - (other.rest[0]?.created_at ?? 0));
    const event = first?.rest.shift();
    if (!first || !event) return { events, isWhole: true };
    first.number += 1;
    positions.set(first.id, first.number);
    if (isOfConversation(event)) events.push({ ...event, agent_id: first.id, cursor: positions.encode() });
  }
  return { events, isWhole: queues.every(({ rest }) => rest.length === 0) };
}

/** The scope is about threads and what happens in them. Contacts and approvals of other agents are not part of it. */
const isOfConversation = ({ type, thread_id }: LiveEvent): boolean =>
  thread_id !== null && eventOf(type).scope === 'threads:read';
