import { z } from 'zod';
import { DomainError } from '../../../domain/errors.ts';
import { canSeeEvent, eventScopes, type EventType, eventTypes } from '../../../domain/feed/events.ts';
import { parseInput } from '../../../operations/execute/parse-input.ts';
import type { LiveEvent } from '../../../realtime/contract.ts';
import { isNoReplyMessage } from '../notifications/notifications.ts';
import type { McpParts } from '../parts.ts';
import { RpcError, rpcCodes } from '../protocol/errors.ts';
import type { Caller } from '../protocol/exchange.ts';
import { eventError, eventsPerPoll, invalidEventParams } from './dialects.ts';
import { createFilter } from './filters.ts';

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
  /** Where it starts: a position, or the end of the feed. */
  cursor: string;
  max_events: number;
  /** Whether the client has set `maxAgeMs`. */
  has_oldest: boolean;
  /** Whether it has this event. Events that are older than `maxAgeMs` are left out. */
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
  const matches = createFilter(caller.actor, type, args ?? {});
  // Without a cursor it starts now anyway.
  const has_oldest = typeof cursor === 'string' && typeof maxAgeMs === 'number';
  const oldest = has_oldest ? Date.now() - maxAgeMs : 0;
  let hasSkipped = false;
  return {
    cursor: cursor ?? 'latest',
    max_events: maxEvents,
    has_oldest,
    wants(event) {
      if (!matches(event)) return false;
      if (event.created_at >= oldest) return true;
      hasSkipped = true;
      return false;
    },
    hasSkipped: () => hasSkipped,
  };
}

function requireVisibleType(caller: Caller, name: string): EventType {
  const type = eventTypes.find((one) => one === name);
  if (!type) {
    const text = `there is no event type ${name.slice(0, 80)}; events/list names all.`;
    throw eventError(caller, 'notFound', { text, kind: 'event' });
  }
  if (canSeeEvent(caller.actor.scopes, type)) return type;
  const scope = eventScopes[type];
  const text = `events of type ${type} need a token with the scope ${scope}.`;
  throw eventError(caller, 'forbidden', { text, reason: 'insufficient_scope', scope });
}

/** An event as a client gets it (`EventOccurrence`), without its cursor. */
export function toOccurrence(event: LiveEvent): object {
  const { id: eventId, type: name, created_at, data, traceparent } = event;
  const meta = {
    ...(isNoReplyMessage(event) && { reply_expected: false }),
    ...(traceparent !== undefined && { traceparent }),
  };
  return {
    eventId,
    name,
    timestamp: new Date(created_at).toISOString(),
    data,
    ...(Object.keys(meta).length > 0 && { _meta: meta }),
  };
}

/** Converts what a method of Events threw to a JSON-RPC error. Logs internal errors. */
export function toEventError(
  { logger }: Pick<McpParts, 'logger'>,
  caller: Caller,
  thrown: unknown,
): RpcError {
  if (thrown instanceof RpcError) return thrown;
  if (!(thrown instanceof DomainError)) {
    const { request_id, actor } = caller;
    logger.error({ err: thrown, request_id, agent_id: actor.agent_id }, 'INTERNAL_ERROR');
    return new RpcError(rpcCodes.internalError, 'Something went wrong here. Try again.', {
      data: { request_id },
    });
  }
  const { code, message, status, retry_after } = thrown;
  const data = { code, ...(retry_after !== undefined && { retry_after }) };
  if (code === 'RATE_LIMITED') return eventError(caller, 'resourceExhausted', { text: message, ...data });
  if (status === 401 || status === 403) return eventError(caller, 'forbidden', { text: message, ...data });
  return status < 500
    ? invalidEventParams(message, data)
    : new RpcError(rpcCodes.internalError, message, { data });
}
