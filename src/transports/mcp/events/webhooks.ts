import { z } from 'zod';
import type { Result } from '@modelcontextprotocol/server';
import { maxSubscriptions } from '../../../../packages/core/src/domain/feed/event-dialects.ts';
import { parseInput } from '../../../../packages/core/src/inputs/parse-input.ts';
import type { SubscribeOutcome } from '../../../services/event-subscriptions/subscribe.ts';
import type { McpParts } from '../parts.ts';
import type { Caller } from '../protocol/exchange.ts';
import { dialectOf, eventError } from './errors.ts';
import { readFilter } from './filters.ts';
import { mayHaveTooOld, readSubscription, requireVisibleType } from './subscription.ts';

const url = z.string().max(2_000);
const subscribeParams = z.looseObject({
  delivery: z.looseObject({ mode: z.string().default('webhook'), url, secret: z.string().max(200) }),
  ttlMs: z.int().min(1).nullish(),
});
const unsubscribeParams = z.looseObject({
  name: z.string(),
  arguments: z.record(z.string(), z.unknown()).nullish(),
  delivery: z.looseObject({ url }),
});

type WebhookParts = Pick<McpParts, 'realtime' | 'limits' | 'eventSubscriptions'>;

/** `events/subscribe`. @throws {RpcError}, {DomainError} */
export async function subscribe(parts: WebhookParts, caller: Caller, params: unknown): Promise<Result> {
  const { actor } = caller;
  const subscription = readSubscription(caller, params);
  const { delivery, ttlMs: ttl_ms } = parseInput(subscribeParams, params);
  if (delivery.mode !== 'webhook') {
    const text =
      'subscriptions are delivered to a URL; use events/poll or events/stream for the other modes.';
    throw eventError(caller, 'unsupported', {
      text,
      feature: 'deliveryMode',
      value: delivery.mode.slice(0, 80),
    });
  }
  await parts.limits.consume('default', actor.agent_id);
  const { type: event_type, filter, oldest_at, has_oldest, cursor } = subscription;
  const dialect = dialectOf(caller);
  const outcome = await parts.eventSubscriptions.subscribe(actor, {
    url: delivery.url,
    secret: delivery.secret,
    event_type,
    arguments: filter,
    dialect,
    oldest_at,
    ttl_ms,
    hold_ms: dialect === 'sketch' ? parts.eventSubscriptions.hold_ms : 0,
    beforeChallenge: () => parts.limits.consume('webhook_test', actor.agent_id),
    async start() {
      const { cursor: start, gap } = await parts.realtime.startOf(actor, cursor);
      const isTooOld = has_oldest && (await mayHaveTooOld(parts.realtime, caller, subscription));
      return { cursor: start, truncated: gap || isTooOld };
    },
  });
  if (outcome.kind === 'too_many') {
    const text = `an agent can have at most ${maxSubscriptions} subscriptions; unsubscribe from some.`;
    throw eventError(caller, 'resourceExhausted', { text, limit: 'subscriptions', max: maxSubscriptions });
  }
  if (outcome.kind === 'callback_error') {
    const text = 'the URL did not answer the challenge.';
    throw eventError(caller, 'callbackEndpointError', { text, reason: outcome.reason });
  }
  const { subscription: stored, before, truncated } = outcome;
  return {
    id: stored.id,
    refreshBefore: toText(stored.expires_at),
    cursor: outcome.cursor,
    truncated,
    ...(before && { deliveryStatus: toDeliveryStatus(before) }),
  };
}

/** `events/unsubscribe`. @throws {RpcError} NotFound; {DomainError} */
export async function unsubscribe(parts: WebhookParts, caller: Caller, params: unknown): Promise<Result> {
  const { name, arguments: args, delivery } = parseInput(unsubscribeParams, params ?? {});
  const event_type = requireVisibleType(caller, name);
  const target = { event_type, arguments: readFilter(event_type, args ?? {}), url: delivery.url };
  await parts.limits.consume('default', caller.actor.agent_id);
  if (await parts.eventSubscriptions.unsubscribe(caller.actor, target)) return {};
  throw eventError(caller, 'notFound', { text: 'there is no such subscription.', kind: 'subscription' });
}

function toDeliveryStatus({
  active,
  last_delivery_at,
  last_error,
  failed_since,
}: Extract<SubscribeOutcome, { kind: 'subscribed' }>['subscription']): object {
  return {
    active,
    lastDeliveryAt: last_delivery_at === null ? null : toText(last_delivery_at),
    lastError: last_error,
    ...(failed_since !== null && { failedSince: toText(failed_since) }),
  };
}

function toText(time: number): string {
  return new Date(time).toISOString();
}
