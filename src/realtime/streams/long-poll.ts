import type { Actor } from '../../domain/auth/actor.ts';
import type { Cursors } from '../../domain/feed/cursors.ts';
import { DomainError } from '../../domain/errors.ts';
import { canSeeEvent } from '../../domain/feed/events.ts';
import type { StreamRegistry } from './registry.ts';
import type { EventPage, LiveEvent, Realtime } from '../contract.ts';
import type { Lane, Pages } from '../feed/pages.ts';
import { type FeedBounds, startPosition } from '../feed/start-position.ts';
import { createWaiter } from './waiter.ts';

export interface LongPollParts {
  pages: Pages;
  channels: StreamRegistry;
  cursors: Cursors;
  bounds(agentId: string): Promise<FeedBounds>;
}

type PageOptions = Parameters<Realtime['page']>[1];

interface Found {
  events: LiveEvent[];
  position: number;
  complete: boolean;
  gap: boolean;
}

/** Pages of events that the caller may not see or does not want, read for one answer at most; the caller goes on from the cursor. */
const maxHiddenPages = 50;

/** Reads one page for a caller without a stream, and lets it wait for the first event. */
export function createLongPoll({ pages, channels, cursors, bounds }: LongPollParts) {
  async function collect(
    actor: Actor,
    from: number,
    { limit, wants }: PageOptions,
    lane: Lane,
    heard = 0,
  ): Promise<Found> {
    const found: Found = { events: [], position: from, complete: false, gap: false };
    for (let count = 0; count < maxHiddenPages; count += 1) {
      const handed = lane === 'live' ? pages.readCached(actor.agent_id, found.position, heard) : undefined;
      const page = handed ?? (await pages.read(actor.agent_id, found.position, lane));
      if (page.after !== found.position) found.gap ||= await isGap(actor, found.position, page.after);
      found.position = page.after;
      for (const event of page.events) {
        if (found.events.length === limit) break;
        found.position += 1;
        if (canSeeEvent(actor.scopes, event.type) && (wants?.(event) ?? true)) found.events.push(event);
      }
      found.complete = page.complete && found.position === page.position;
      if (found.complete || found.events.length > 0) break;
    }
    return found;
  }

  /** Whether anything was lost between two positions: a restored database goes on elsewhere without that. */
  async function isGap(actor: Actor, position: number, next: number): Promise<boolean> {
    const now = startPosition(await bounds(actor.agent_id), position);
    return now.gap || now.position !== next;
  }

  /** Nothing lies behind the position. Either that is so, or the position itself is of a log that no longer exists. */
  async function checked(actor: Actor, found: Found): Promise<Found> {
    const { position, gap } = startPosition(await bounds(actor.agent_id), found.position);
    return { ...found, position, gap };
  }

  async function wait(actor: Actor, from: number, options: PageOptions, deadline: number): Promise<Found> {
    const waiter = createWaiter(actor, from);
    try {
      await channels.join(waiter);
      for (;;) {
        const heard = waiter.beginRead();
        const found = await collect(actor, waiter.position(), options, 'live', heard);
        waiter.moveTo(found.position);
        if (found.events.length > 0 || !found.complete || found.gap) return found;
        const outcome = await waiter.wait(deadline, options.signal);
        if (outcome === 'token_ended') throw new DomainError('UNAUTHORIZED', 'The access token has ended.');
        if (outcome !== 'rung') return found;
      }
    } finally {
      channels.leave(waiter);
    }
  }

  return async function page(actor: Actor, options: PageOptions): Promise<EventPage> {
    const { agent_id } = actor;
    const deadline = Date.now() + options.wait_ms;
    const given = options.cursor === undefined ? undefined : cursors.decodeFeed(agent_id, options.cursor);
    const start = given ?? startPosition(await bounds(agent_id), undefined);
    const from = typeof start === 'number' ? start : start.position;
    let found = await collect(actor, from, options, 'replay');
    if (typeof start !== 'number') found.gap ||= start.gap;
    const nothing = () => found.events.length === 0 && found.complete && !found.gap;
    if (nothing() && given !== undefined) found = await checked(actor, found);
    if (nothing() && options.wait_ms > 0) found = await wait(actor, found.position, options, deadline);
    const { events, complete, gap, position } = found;
    return { events, cursor: cursors.encodeFeed(agent_id, position), complete, gap };
  };
}
