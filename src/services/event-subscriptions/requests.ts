import type { EventSubscriptionRow } from '../../repositories/event-subscriptions/event-subscriptions.ts';
import { randomBytes } from 'node:crypto';
import {
  type CallbackFailure,
  subscriptionHeader,
} from '../../../packages/core/src/domain/feed/event-dialects.ts';
import { isDelivered, type OutboundResponse } from '../../../packages/core/src/domain/outbound.ts';
import type { ReadWork } from '../../work/unit-of-work.ts';
import { signHeaders } from '../webhooks/secrets.ts';

/** A stored subscription. Its secrets are sealed for its id. */
export type EventSubscription = EventSubscriptionRow;

type SignedBy = Pick<
  EventSubscription,
  'id' | 'url' | 'secret' | 'previous_secret' | 'previous_secret_until'
>;

/**
 * Returns the signed request of a subscription: an event under its id, or a control body under an id of its own.
 * @throws if SECRET_KEY is not the one with which the secrets were sealed
 */
export function signRequest(
  { settings: { sealedBox } }: Pick<ReadWork, 'settings'>,
  subscription: SignedBy,
  { message_id, body, now }: { message_id: string; body: object; now: number },
) {
  const text = JSON.stringify(body);
  const signed = signHeaders(sealedBox, subscription, { event_id: message_id, body: text, now });
  const headers = { ...signed, [subscriptionHeader]: subscription.id };
  return { url: subscription.url, headers, body: text };
}

/** An id of a control body. */
export function controlId(type: 'verification' | 'gap' | 'terminated'): string {
  return `msg_${type}_${randomBytes(12).toString('hex')}`;
}

/** The category of a failed request; null if it succeeded. A blocked address is like one that refuses connections. */
export function toCallbackFailure(response: OutboundResponse): CallbackFailure | null {
  const { status, failure } = response;
  if (status === null) return failure ?? 'connection_refused';
  if (isDelivered(response)) return null;
  return status >= 500 ? 'http_5xx' : 'http_4xx';
}
