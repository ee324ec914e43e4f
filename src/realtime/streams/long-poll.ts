import type { Actor } from '../../../packages/core/src/domain/auth/actor.ts';
import type { Cursors } from '../../work/cursors.ts';
import { canSeeEvent } from '../../../packages/core/src/events/feed-event.ts';
import type { StreamRegistry } from './registry.ts';
import type { EventPage, LiveEvent, Realtime } from '../contract.ts';
import type { Lane, Pages } from '../feed/pages.ts';
import { decodeStart, type FeedBounds, startPosition } from '../feed/start-position.ts';
import { createWaiter, tokenEnded } from './waiter.ts';
import { steadyNow } from '../../shared/clock.ts';

export interface LongPollParts {
  pages: Pages;
  registry: StreamRegistry;
  cursors: Cursors;
  bounds(agentId: string): Promise<FeedBounds>;
}

type PageOptions = Parameters<Realtime['page']>[1];

interface PageResult {
  events: LiveEvent[];
  position: number;
  complete: boolean;
  gap: boolean;
}

/** Maximum pages without a visible event that are read for one response. The caller continues from its cursor. */
const maxHiddenPages = 50;

/** Whether a feed ends here. A page also ends at the end of a range of numbers, and looks complete there. */
function isEnd(feed: FeedBounds, position: number): boolean {
  return startPosition(feed, position).position >= feed.last_number;
}

/** Returns the implementation of `Realtime.page`: reads one page for a caller without a stream, and waits for the first event. */
export function createLongPoll({ pages, registry, cursors, bounds }: LongPollParts) {
  async function collect(
    actor: Actor,
    start: number,
    { limit, wants }: PageOptions,
    lane: Lane,
    notifiedNumber = 0,
  ): Promise<PageResult> {
    const result: PageResult = { events: [], position: start, complete: false, gap: false };
    for (let count = 0; count < maxHiddenPages; count += 1) {
      const cached =
        lane === 'live' ? pages.readCached(actor.agent_id, result.position, notifiedNumber) : undefined;
      const page = cached ?? (await pages.read(actor.agent_id, result.position, lane));
      if (page.after !== result.position) result.gap ||= await isGap(actor, result.position, page.after);
      result.position = page.after;
      for (const event of page.events) {
        if (result.events.length === limit) break;
        result.position += 1;
        if (canSeeEvent(actor.scopes, event.type) && (wants?.(event) ?? true)) result.events.push(event);
      }
      result.complete = page.complete && result.position === page.position;
      if (result.complete || result.events.length > 0) break;
    }
    return result;
  }

  /** Whether entries were lost between two positions. After a database restore numbers are skipped without a loss. */
  async function isGap(actor: Actor, position: number, next: number): Promise<boolean> {
    const current = startPosition(await bounds(actor.agent_id), position);
    return current.gap || current.position !== next;
  }

  /** For an empty page: the position is the end of the feed, or one that only existed before a database restore. */
  async function checkPosition(actor: Actor, result: PageResult): Promise<PageResult> {
    const { position, gap } = startPosition(await bounds(actor.agent_id), result.position);
    return { ...result, position, gap };
  }

  async function wait(
    actor: Actor,
    start: number,
    options: PageOptions,
    deadline: number,
  ): Promise<PageResult> {
    const waiter = createWaiter(actor, start);
    try {
      registry.add(waiter);
      for (;;) {
        const notifiedNumber = waiter.beginRead();
        const result = await collect(actor, waiter.position(), options, 'live', notifiedNumber);
        waiter.moveTo(result.position);
        if (result.events.length > 0 || !result.complete || result.gap) return result;
        const outcome = await waiter.wait(deadline, options.signal);
        if (outcome === 'token_ended') throw tokenEnded();
        if (outcome !== 'notified') return result;
      }
    } finally {
      registry.remove(waiter);
    }
  }

  return async function readPage(actor: Actor, options: PageOptions): Promise<EventPage> {
    const { agent_id } = actor;
    const deadline = steadyNow() + options.wait_ms;
    const requested = decodeStart(cursors, agent_id, options.cursor);
    const start =
      typeof requested === 'number'
        ? { position: requested, gap: false }
        : startPosition(await bounds(agent_id), requested, 'earliest');
    let result = await collect(actor, start.position, options, 'replay');
    result.gap ||= start.gap;
    if (result.complete && result.events.length > 0)
      result.complete = isEnd(await bounds(agent_id), result.position);
    const isEmpty = () => result.events.length === 0 && result.complete && !result.gap;
    if (isEmpty() && typeof requested === 'number') result = await checkPosition(actor, result);
    if (isEmpty() && options.wait_ms > 0) result = await wait(actor, result.position, options, deadline);
    const { events, complete, gap, position } = result;
    return { events, cursor: cursors.encodeFeed(agent_id, position), complete, gap };
  };
}
