import contract from '../contract.json' with { type: 'json' };
import { readPage, type PageInput } from './pages.ts';
import { canSee, encodeCursor, lastNumber } from '../core/feed.ts';
import type { Delivery, Webhook } from '../core/records.ts';
import { ServiceError, wrongField } from '../core/service-error.ts';
import type { Call, Handler } from '../core/state.ts';
import { createWebhookSecret, deliver, disable, isDelivered, post } from '../core/webhooks.ts';

const maxWebhooks = 10;
const dayMs = 24 * 3_600_000;
const scopes: Record<string, string> = contract.event_scopes;

type Settings = Pick<Webhook, 'url' | 'event_types' | 'description' | 'only_when_offline'>;

/** @throws {ServiceError} NOT_FOUND */
function requireWebhook({ me }: Call, id: string): Webhook {
  const webhook = me.webhooks.get(id);
  if (webhook) return webhook;
  throw new ServiceError('NOT_FOUND', 'No such webhook.');
}

/** @throws {ServiceError} NOT_FOUND, INVALID_TRANSITION */
function requireEnabled(call: Call, id: string): Webhook {
  const webhook = requireWebhook(call, id);
  if (webhook.enabled) return webhook;
  throw new ServiceError('INVALID_TRANSITION', 'This webhook is disabled; enable it first.');
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

/** @throws {ServiceError} VALIDATION_ERROR, INSUFFICIENT_SCOPE */
function requireTypes(call: Call, types: readonly string[] | null): void {
  if (types && new Set(types).size < types.length)
    throw wrongField('event_types', 'must not contain duplicates');
  const hidden = types?.find((type) => !canSee(call.scopes, type));
  if (hidden === undefined) return;
  const scope = scopes[hidden] ?? '';
  const message = `Events of type ${hidden} need a token with the scope ${scope}.`;
  throw new ServiceError('INSUFFICIENT_SCOPE', message, { scope });
}

function present(webhook: Webhook): object {
  const { id, url, description, event_types, only_when_offline, enabled, disabled_reason } = webhook;
  const { disabled_at, previous_secret_until, created_at, updated_at } = webhook;
  const settings = { id, url, description, event_types, only_when_offline, enabled, disabled_reason };
  return { ...settings, disabled_at, previous_secret_until, created_at, updated_at };
}

function presentDelivery({ event, number: _number, ...delivery }: Delivery): object {
  return { id: event.id, event_type: event.type, ...delivery };
}

function restart({ state, me }: Call, webhook: Webhook, deliveries: readonly Delivery[]): void {
  const next_at = state.clock.now();
  for (const delivery of deliveries) Object.assign(delivery, { state: 'pending', attempts: 0, next_at });
  deliver(state, me, webhook);
}

interface WebhookRef {
  webhook_id: string;
}

export const webhookHandlers = {
  create_webhook(call: Call, input: Settings) {
    const { state, me } = call;
    requireUrl(input.url);
    requireTypes(call, input.event_types);
    if (me.webhooks.size >= maxWebhooks) {
      const message = `An agent can have at most ${maxWebhooks} webhooks; remove one first.`;
      throw new ServiceError('FORBIDDEN', message);
    }
    const now = state.clock.now();
    const webhook: Webhook = {
      ...input,
      id: state.newId('whk'),
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
    return { ...present(webhook), secret: webhook.secret };
  },
  list_webhooks: ({ me }: Call) => ({ webhooks: [...me.webhooks.values()].map(present) }),
  get_webhook: (call: Call, { webhook_id }: WebhookRef) => present(requireWebhook(call, webhook_id)),
  update_webhook(
    call: Call,
    { webhook_id, ...changes }: WebhookRef & Partial<Settings> & { enabled?: boolean },
  ) {
    if (Object.keys(changes).length === 0) throw wrongField('', 'must have at least one field to change');
    const webhook = requireWebhook(call, webhook_id);
    if (changes.url !== undefined) requireUrl(changes.url);
    const now = call.state.clock.now();
    if (changes.url !== undefined || changes.event_types !== undefined) {
      requireTypes(call, changes.event_types === undefined ? webhook.event_types : changes.event_types);
      webhook.scopes = call.scopes;
    }
    const { enabled = webhook.enabled, ...settings } = changes;
    if (enabled && !webhook.enabled) webhook.position = lastNumber(call.me);
    if (!enabled && webhook.enabled) disable(webhook, 'by_request', now);
    if (enabled) Object.assign(webhook, { enabled, disabled_reason: null, disabled_at: null });
    Object.assign(webhook, { ...settings, updated_at: now });
    return present(webhook);
  },
  delete_webhook(call: Call, { webhook_id }: WebhookRef) {
    const { state, me } = call;
    const webhook = requireWebhook(call, webhook_id);
    disable(webhook, 'by_request', state.clock.now());
    me.webhooks.delete(webhook_id);
    me.feed.listeners.delete(webhook.onEvent);
    return {};
  },
  rotate_webhook_secret(call: Call, { webhook_id }: WebhookRef) {
    const webhook = requireWebhook(call, webhook_id);
    const now = call.state.clock.now();
    const previous = { previous_secret: webhook.secret, previous_secret_until: now + dayMs };
    Object.assign(webhook, { ...previous, secret: createWebhookSecret(), updated_at: now });
    return { ...present(webhook), secret: webhook.secret };
  },
  async test_webhook(call: Call, { webhook_id }: WebhookRef) {
    const { state, me } = call;
    const webhook = requireWebhook(call, webhook_id);
    const cursor = encodeCursor(me, lastNumber(me));
    const about = { id: state.newId('evt'), cursor, created_at: state.clock.now() };
    const response = await post(state, webhook, { type: 'webhook.test', ...about, data: { webhook_id } });
    return { delivered: isDelivered(response), ...response };
  },
  list_webhook_deliveries(
    call: Call,
    { webhook_id, state, ...page }: PageInput & WebhookRef & { state?: string },
  ) {
    const { deliveries } = requireWebhook(call, webhook_id);
    const list = () => deliveries.filter((one) => state === undefined || one.state === state).toReversed();
    const { rows, next_cursor } = readPage(call, page, ['deliveries', webhook_id, state], list);
    return { deliveries: rows.map(presentDelivery), next_cursor };
  },
  replay_webhook_delivery(call: Call, { webhook_id, delivery_id }: WebhookRef & { delivery_id: string }) {
    const webhook = requireEnabled(call, webhook_id);
    const delivery = webhook.deliveries.find(({ event }) => event.id === delivery_id);
    if (!delivery) throw new ServiceError('NOT_FOUND', 'This webhook has no such delivery.');
    restart(call, webhook, [delivery]);
    return presentDelivery(delivery);
  },
  replay_webhook_deliveries(call: Call, { webhook_id, since }: WebhookRef & { since: number }) {
    const webhook = requireEnabled(call, webhook_id);
    const failed = webhook.deliveries.filter(
      (one) => one.state === 'failed' && one.event.created_at >= since,
    );
    restart(call, webhook, failed);
    return { replayed: failed.length, complete: true };
  },
} satisfies Record<string, Handler>;
