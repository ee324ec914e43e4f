import { z } from 'zod';
import { DomainError, wrongField } from '../../../../core/src/domain/errors.ts';
import { maxWebhooks } from '../../../../core/src/domain/webhooks.ts';
import { requireVisibleEventTypes } from '../../../../core/src/events/feed-event.ts';
import {
  presentWebhook,
  presentWebhookDelivery,
  presentWebhookTest,
} from '../../../../core/src/events/webhook-record.ts';
import {
  createWebhookInput,
  deliveryId,
  listWebhookDeliveriesInput,
  replayWebhookDeliveriesInput,
  updateWebhookInput,
  webhookId,
} from '../../../../core/src/inputs/webhooks.ts';
import { encodeCursor, lastNumber } from '../core/feed.ts';
import type { Delivery, Webhook } from '../core/records.ts';
import { type Call, defineHandler } from '../core/state.ts';
import { createWebhookSecret, deliver, disable, post } from '../core/webhooks.ts';
import { readPage } from '../core/pages.ts';

const dayMs = 24 * 3_600_000;

/** @throws {DomainError} NOT_FOUND */
function requireWebhook({ me }: Call, id: string): Webhook {
  const webhook = me.webhooks.get(id);
  if (webhook) return webhook;
  throw new DomainError('NOT_FOUND', 'No such webhook.');
}

/** @throws {DomainError} NOT_FOUND, INVALID_TRANSITION */
function requireEnabled(call: Call, id: string): Webhook {
  const webhook = requireWebhook(call, id);
  if (webhook.enabled) return webhook;
  throw new DomainError('INVALID_TRANSITION', 'This webhook is disabled; enable it first.');
}

/** The service takes public https addresses only; the fake one also those of the test. */
function requireUrl(text: string): void {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    throw wrongField('url', 'must be an address that starts with https://');
  if (url.username !== '' || url.password !== '')
    throw wrongField('url', 'must hold no user name and no password');
  if (url.hash !== '') throw wrongField('url', 'must have no fragment');
}

const presentDelivery = ({ event, ...delivery }: Delivery): object =>
  presentWebhookDelivery({ ...delivery, event_id: event.id, event_type: event.type });

function restart({ state, me }: Call, webhook: Webhook, deliveries: readonly Delivery[]): void {
  const next_at = state.clock.now();
  for (const delivery of deliveries) Object.assign(delivery, { state: 'pending', attempts: 0, next_at });
  deliver(state, me, webhook);
}

const refInput = z.strictObject({ webhook_id: webhookId });
const deliveryRef = z.strictObject({ webhook_id: webhookId, delivery_id: deliveryId });

export const webhookHandlers = {
  create_webhook: defineHandler(createWebhookInput, (call, input) => {
    const { state, me } = call;
    requireUrl(input.url);
    requireVisibleEventTypes(call.scopes, input.event_types);
    if (me.webhooks.size >= maxWebhooks) {
      const message = `An agent can have at most ${maxWebhooks} webhooks; remove one first.`;
      throw new DomainError('FORBIDDEN', message);
    }
    const now = state.clock.now();
    const webhook: Webhook = {
      ...input,
      id: state.newId('webhook'),
      scopes: call.scopes,
      enabled: true,
      disabled_reason: null,
      disabled_at: null,
      secret: createWebhookSecret(),
      previous_secret: null,
      previous_secret_until: null,
      position: lastNumber(me),
      deliveries: [],
      isSending: false,
      onEvent: () => deliver(state, me, webhook),
      created_at: now,
      updated_at: now,
    };
    me.webhooks.set(webhook.id, webhook);
    me.feed.listeners.add(webhook.onEvent);
    return { ...presentWebhook(webhook), secret: webhook.secret };
  }),
  list_webhooks: defineHandler(z.strictObject({}), ({ me }) => ({
    webhooks: [...me.webhooks.values()].map(presentWebhook),
  })),
  get_webhook: defineHandler(refInput, (call, { webhook_id }) =>
    presentWebhook(requireWebhook(call, webhook_id)),
  ),
  update_webhook: defineHandler(updateWebhookInput, (call, { webhook_id, ...changes }) => {
    const webhook = requireWebhook(call, webhook_id);
    if (changes.url !== undefined) requireUrl(changes.url);
    const now = call.state.clock.now();
    if (changes.url !== undefined || changes.event_types !== undefined) {
      requireVisibleEventTypes(
        call.scopes,
        changes.event_types === undefined ? webhook.event_types : changes.event_types,
      );
      webhook.scopes = call.scopes;
    }
    const { enabled = webhook.enabled, ...settings } = changes;
    if (enabled && !webhook.enabled) webhook.position = lastNumber(call.me);
    if (!enabled && webhook.enabled) disable(webhook, 'by_request', now);
    if (enabled) Object.assign(webhook, { enabled, disabled_reason: null, disabled_at: null });
    Object.assign(webhook, { ...settings, updated_at: now });
    return presentWebhook(webhook);
  }),
  delete_webhook: defineHandler(refInput, (call, { webhook_id }) => {
    const { state, me } = call;
    const webhook = requireWebhook(call, webhook_id);
    disable(webhook, 'by_request', state.clock.now());
    me.webhooks.delete(webhook_id);
    me.feed.listeners.delete(webhook.onEvent);
    return {};
  }),
  rotate_webhook_secret: defineHandler(refInput, (call, { webhook_id }) => {
    const webhook = requireWebhook(call, webhook_id);
    const now = call.state.clock.now();
    const previous = { previous_secret: webhook.secret, previous_secret_until: now + dayMs };
    Object.assign(webhook, { ...previous, secret: createWebhookSecret(), updated_at: now });
    return { ...presentWebhook(webhook), secret: webhook.secret };
  }),
  test_webhook: defineHandler(refInput, async (call, { webhook_id }) => {
    const { state, me } = call;
    const webhook = requireWebhook(call, webhook_id);
    const cursor = encodeCursor(me, lastNumber(me));
    const about = { id: state.newId('event'), cursor, created_at: state.clock.now() };
    const response = await post(state, webhook, { type: 'webhook.test', ...about, data: { webhook_id } });
    return presentWebhookTest(response);
  }),
  list_webhook_deliveries: defineHandler(
    listWebhookDeliveriesInput,
    (call, { webhook_id, state, ...page }) => {
      const { deliveries } = requireWebhook(call, webhook_id);
      const list = () => deliveries.filter((one) => state === undefined || one.state === state).toReversed();
      const { rows, next_cursor } = readPage(call, page, ['deliveries', webhook_id, state], list);
      return { deliveries: rows.map(presentDelivery), next_cursor };
    },
  ),
  replay_webhook_delivery: defineHandler(deliveryRef, (call, { webhook_id, delivery_id }) => {
    const webhook = requireEnabled(call, webhook_id);
    const delivery = webhook.deliveries.find(({ event }) => event.id === delivery_id);
    if (!delivery) throw new DomainError('NOT_FOUND', 'This webhook has no such delivery.');
    restart(call, webhook, [delivery]);
    return presentDelivery(delivery);
  }),
  replay_webhook_deliveries: defineHandler(replayWebhookDeliveriesInput, (call, { webhook_id, since }) => {
    const webhook = requireEnabled(call, webhook_id);
    const failed = webhook.deliveries.filter(
      (one) => one.state === 'failed' && one.event.created_at >= since,
    );
    restart(call, webhook, failed);
    return { replayed: failed.length, complete: true };
  }),
};
