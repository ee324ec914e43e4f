import { createHmac, randomBytes } from 'node:crypto';
import { isDelivered, type OutboundResponse } from '../../../../core/src/domain/outbound.ts';
import { defaultPacing, type DisabledReason } from '../../../../core/src/domain/webhooks.ts';
import { canSeeEvent } from '../../../../core/src/events/feed-event.ts';
import type { WebhookRequest } from '../types.ts';
import { lastNumber, markDelivered, presentEvent } from './feed.ts';
import type { Agent, AgentRef, Delivery, StoredEvent, Webhook } from './records.ts';
import type { State } from './state.ts';

const timeoutMs = 20_000;
const webhookSecretPrefix = 'whsec_';

export const createWebhookSecret = (): string =>
  `${webhookSecretPrefix}${randomBytes(32).toString('base64')}`;

interface SignedEvent {
  id: string;
  [field: string]: unknown;
}

/** Sends an event to a webhook. */
export async function post(state: State, webhook: Webhook, event: SignedEvent): Promise<OutboundResponse> {
  const request = sign(webhook, state.clock.now(), event);
  const start = performance.now();
  const duration = () => ({ duration_ms: Math.round(performance.now() - start) });
  try {
    const status = await state.receiveWebhook(request);
    return { status, error: null, ...(!isDelivered({ status }) && { response: '' }), ...duration() };
  } catch (thrown) {
    const error = thrown instanceof Error ? thrown.message : String(thrown);
    return { status: null, error, ...duration() };
  }
}

/**
 * Signs an event with each secret that is valid at `now` (Standard Webhooks). The time of the signature is that of the machine, because
 * receivers refuse old requests.
 */
function sign(
  { url, secret, previous_secret, previous_secret_until }: Webhook,
  now: number,
  event: SignedEvent,
): WebhookRequest {
  const hasPrevious = previous_secret !== null && (previous_secret_until ?? 0) > now;
  const body = JSON.stringify(event);
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const signatures = (hasPrevious ? [secret, previous_secret] : [secret]).map((one) => {
    const key = Buffer.from(one.slice(webhookSecretPrefix.length), 'base64');
    const hash = createHmac('sha256', key).update(`${event.id}.${timestamp}.${body}`);
    return `v1,${hash.digest('base64')}`;
  });
  return {
    url,
    headers: {
      'content-type': 'application/json',
      'webhook-id': event.id,
      'webhook-timestamp': timestamp,
      'webhook-signature': signatures.join(' '),
    },
    body,
  };
}

/** Posts to the address of the webhook, until the signal. */
export async function postToUrl(
  stopped: AbortSignal,
  { url, headers, body }: WebhookRequest,
): Promise<number> {
  const signal = AbortSignal.any([stopped, AbortSignal.timeout(timeoutMs)]);
  const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal });
  await response.body?.cancel();
  return response.status;
}

/** Adds the deliveries of new events, and sends what is due, one after the other. */
export function deliver(state: State, agent: Agent, webhook: Webhook): void {
  const { feed } = agent;
  const start = Math.max(webhook.position, feed.removed);
  const isWanted = ({ type, data }: StoredEvent) =>
    canSeeEvent(webhook.scopes, type) &&
    webhook.event_types?.includes(type) !== false &&
    !(type === 'task.updated' && (data as { by: AgentRef | null }).by?.id === agent.id);
  if (webhook.enabled && !isLeftOut(state, agent, webhook))
    for (const [index, event] of feed.events.slice(start - feed.removed).entries())
      if (isWanted(event)) webhook.deliveries.push(toDelivery(state, event, start + index + 1));
  webhook.position = lastNumber(agent);
  if (webhook.isSending) return;
  webhook.isSending = true;
  // After the answer of the call that caused the event.
  setImmediate(() => void sendDue(state, agent, webhook));
}

/** Whether a webhook gets no events now, because its agent is online. */
function isLeftOut({ presence }: State, { id }: Agent, { only_when_offline }: Webhook): boolean {
  return only_when_offline && (presence.get(id) ?? 0) > 0;
}

function toDelivery({ clock }: State, event: StoredEvent, number: number): Delivery {
  const empty = {
    attempts: 0,
    last_attempt_at: null,
    last_status: null,
    last_error: null,
    last_duration_ms: null,
    last_response: null,
  };
  const now = clock.now();
  return { event, number, state: 'pending', ...empty, next_at: now, created_at: now };
}

async function sendDue(state: State, agent: Agent, webhook: Webhook): Promise<void> {
  const findNext = () =>
    webhook.deliveries.find(
      (one) => one.state === 'pending' && (one.next_at ?? Infinity) <= state.clock.now(),
    );
  for (let next = findNext(); next && webhook.enabled && !state.stopped.signal.aborted; next = findNext()) {
    if (isLeftOut(state, agent, webhook)) Object.assign(next, { state: 'skipped', next_at: null });
    else await attempt(state, agent, webhook, next);
  }
  webhook.isSending = false;
}

async function attempt(state: State, agent: Agent, webhook: Webhook, delivery: Delivery): Promise<void> {
  const { event, number } = delivery;
  const response = await post(state, webhook, presentEvent(agent, event, number) as SignedEvent);
  // It was abandoned in the meantime.
  if (delivery.state !== 'pending' && !isDelivered(response)) return;
  const now = state.clock.now();
  delivery.attempts += 1;
  const { status, error, duration_ms, response: text = null } = response;
  Object.assign(delivery, {
    last_attempt_at: now,
    last_status: status,
    last_error: error,
    last_duration_ms: duration_ms,
    last_response: text,
  });
  if (isDelivered(response)) {
    Object.assign(delivery, { state: 'delivered', next_at: null });
    markDelivered(state, agent, [event]);
    return;
  }
  const delayMs = defaultPacing.scheduleMs[delivery.attempts];
  if (response.status !== 410 && delayMs !== undefined) {
    delivery.next_at = now + delayMs;
    return;
  }
  Object.assign(delivery, { state: 'failed', next_at: null });
  if (response.status === 410) disable(webhook, 'gone', now);
  else if (!hasDeliveredSince(webhook, delivery.created_at)) disable(webhook, 'failing', now);
}

/** A receiver may reject one event and accept the others; then the webhook stays enabled. */
function hasDeliveredSince({ deliveries }: Webhook, time: number): boolean {
  return deliveries.some((one) => one.state === 'delivered' && (one.last_attempt_at ?? 0) >= time);
}

/** Disables a webhook and abandons its pending deliveries. */
export function disable(webhook: Webhook, reason: DisabledReason, now: number): void {
  Object.assign(webhook, { enabled: false, disabled_reason: reason, disabled_at: now });
  for (const delivery of webhook.deliveries)
    if (delivery.state === 'pending')
      Object.assign(delivery, { state: 'failed', next_at: null, last_error: 'the webhook was disabled' });
}
