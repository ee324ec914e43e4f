import type { Result } from '@modelcontextprotocol/server';
import {
  deliveryModes,
  eventMethods,
  nextPollMs,
} from '../../../../packages/core/src/domain/feed/event-dialects.ts';
import { toOccurrence } from '../../../../packages/core/src/events/occurrence.ts';
import { canSeeEvent } from '../../../../packages/core/src/events/feed-event.ts';
import { eventOf, type EventType, eventTypes } from '../../../../packages/core/src/events/list.ts';
import type { McpParts } from '../parts.ts';
import type { Caller } from '../protocol/exchange.ts';
import type { Method } from '../protocol/methods.ts';
import { readField } from '../protocol/required-scopes.ts';
import { acceptedSchema, resultSchema } from '../tools/json-schemas.ts';
import { invalidEventParams, toEventError } from './errors.ts';
import { argumentsOf } from './filters.ts';
import { readSubscription } from './subscription.ts';
import { subscribe, unsubscribe } from './webhooks.ts';

type MethodParts = Pick<McpParts, 'realtime' | 'limits' | 'logger' | 'eventSubscriptions'>;

/** The list depends on the scopes of the token and changes only with a release; lifetime in ms. */
const listHints = { ttlMs: 300_000, cacheScope: 'private' } as const;

/** `events/list`, `events/poll`, `events/subscribe` and `events/unsubscribe` (MCP Events extension, draft), over the feed and its cursors. */
export function createEventMethods(parts: MethodParts): ReadonlyMap<string, Method> {
  const definitions = new Map(eventTypes.map((type) => [type, describeEvent(type)]));

  async function list({ actor }: Caller, params: unknown): Promise<Result> {
    await parts.limits.consume('default', actor.agent_id);
    const cursor = readField(params, 'cursor') ?? '';
    if (cursor !== '') throw invalidEventParams('The list of event types has one page: omit the cursor.');
    const visible = [...definitions].filter(([type]) => canSeeEvent(actor.scopes, type));
    return { events: visible.map(([, definition]) => definition), ...listHints };
  }

  async function poll(caller: Caller, params: unknown): Promise<Result> {
    const { actor } = caller;
    const subscription = readSubscription(caller, params);
    await parts.limits.consume('default', actor.agent_id);
    const page = await parts.realtime.page(actor, {
      cursor: subscription.cursor,
      limit: subscription.max_events,
      wait_ms: 0,
      wants: subscription.wants,
    });
    caller.onResponseEnd((isSent) => {
      if (isSent) parts.realtime.markDelivered(actor, page.events);
    });
    return {
      events: page.events.map(toOccurrence),
      cursor: page.cursor,
      truncated: page.gap || subscription.hasSkipped(),
      hasMore: !page.complete,
      nextPollMs,
    };
  }

  const withErrors =
    (run: (caller: Caller, params: unknown) => Promise<Result>): Method =>
    async (request, { caller }) => {
      try {
        return await run(caller, readField(request, 'params'));
      } catch (error) {
        throw toEventError(parts, caller, error);
      }
    };

  return new Map([
    [eventMethods.list, withErrors(list)],
    [eventMethods.poll, withErrors(poll)],
    [eventMethods.subscribe, withErrors((caller, params) => subscribe(parts, caller, params))],
    [eventMethods.unsubscribe, withErrors((caller, params) => unsubscribe(parts, caller, params))],
  ]);
}

function describeEvent(type: EventType): object {
  const { data } = eventOf(type);
  return {
    name: type,
    description: data.description,
    delivery: deliveryModes,
    inputSchema: acceptedSchema(argumentsOf(type), false),
    payloadSchema: resultSchema(data),
  };
}
