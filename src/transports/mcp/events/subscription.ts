import { z } from 'zod';
import { eventsPerPoll } from '../../../../packages/core/src/domain/feed/event-dialects.ts';
import { canSeeEvent } from '../../../../packages/core/src/events/feed-event.ts';
import { eventOf, type EventType, isEventType } from '../../../../packages/core/src/events/list.ts';
import { parseInput } from '../../../../packages/core/src/inputs/parse-input.ts';
import type { LiveEvent, Realtime } from '../../../realtime/contract.ts';
import type { Caller } from '../protocol/exchange.ts';
import { eventError } from './errors.ts';
import { readFilter } from './filters.ts';
import { createEventFilter, type EventFilter } from '../../../../packages/core/src/events/event-filter.ts';

const paramsSchema = z.looseObject({
  name: z.string(),
  arguments: z.record(z.string(), z.unknown()).nullish(),
  cursor: z.string().max(4_096).nullish(),
  maxAgeMs: z.int().min(0).nullish(),
  maxEvents: z
    .int()
    .min(1)
    .default(eventsPerPoll.default)
    .transform((count) => Math.min(count, eventsPerPoll.max)),
});

/** What a client asks for with `events/poll` or `events/stream`. */
export interface Subscription {
  type: EventType;
  filter: EventFilter;
  /** Events from before this time are left out; ms. */
  oldest_at: number;
  /** Where it starts: a position, or the end of the feed. */
  cursor: string;
  max_events: number;
  /** Whether the client has set `maxAgeMs`. */
  has_oldest: boolean;
  /** Whether this event belongs to the subscription and is not older than `maxAgeMs`. */
  wants(event: LiveEvent): boolean;
  /** Whether `wants` has left out an event because of its age. */
  hasSkipped(): boolean;
}

/**
 * Reads the parameters that `events/poll` and `events/stream` share.
 * @throws {RpcError} in the dialect of the client: NotFound for an unknown event type, Forbidden for one that the token may not see; -32602
 * @throws {DomainError} VALIDATION_ERROR, INVALID_HANDLE
 */
export function readSubscription(caller: Caller, params: unknown): Subscription {
  const { name, arguments: args, cursor, maxAgeMs, maxEvents } = parseInput(paramsSchema, params ?? {});
  const type = requireVisibleType(caller, name);
  const filter = readFilter(type, args ?? {});
  const matches = createEventFilter(caller.actor, type, filter);
  // Without a cursor the subscription starts now, so no event is too old.
  const has_oldest = typeof cursor === 'string' && typeof maxAgeMs === 'number';
  const oldest_at = has_oldest ? Date.now() - maxAgeMs : 0;
  let hasSkipped = false;
  return {
    type,
    filter,
    oldest_at,
    cursor: cursor ?? 'latest',
    max_events: maxEvents,
    has_oldest,
    wants(event) {
      if (!matches(event)) return false;
      if (event.created_at >= oldest_at) return true;
      hasSkipped = true;
      return false;
    },
    hasSkipped: () => hasSkipped,
  };
}

/** @throws {RpcError} NotFound, Forbidden */
export function requireVisibleType(caller: Caller, name: string): EventType {
  if (!isEventType(name)) {
    const text = `there is no event type ${name.slice(0, 80)}; events/list returns all event types.`;
    throw eventError(caller, 'notFound', { text, kind: 'event' });
  }
  if (canSeeEvent(caller.actor.scopes, name)) return name;
  const { scope } = eventOf(name);
  const text = `events of type ${name} need a token with the scope ${scope}.`;
  throw eventError(caller, 'forbidden', { text, reason: 'insufficient_scope', scope });
}

/**
 * Whether events of the subscription may be too old for it. Reads one page, up to the first event that matches: no later one is older. True
 * if the page has none and the feed continues.
 */
export async function mayHaveTooOld(
  realtime: Pick<Realtime, 'page'>,
  { actor }: Caller,
  { cursor, wants, hasSkipped }: Subscription,
): Promise<boolean> {
  const page = await realtime.page(actor, {
    cursor,
    limit: 1,
    wait_ms: 0,
    wants: (event) => wants(event) || hasSkipped(),
  });
  return hasSkipped() || (page.events.length === 0 && !page.complete);
}
