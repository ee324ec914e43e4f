import { DomainError, wrongField } from '../../../packages/core/src/domain/errors.ts';
import type { EventType } from '../../../packages/core/src/events/list.ts';
import { requireVisibleEventTypes } from '../../../packages/core/src/events/feed-event.ts';
import { newId } from '../../../packages/core/src/domain/ids.ts';
import { maxWebhooks } from '../../../packages/core/src/domain/webhooks.ts';
import type { ReadWork, SystemWork } from '../../work/unit-of-work.ts';
import {
  maxAbandonedAtOnce,
  type Webhook,
  webhookDisabled,
  requireWebhook,
  webhookRemoved,
} from './access.ts';
import { canSign, createWebhookSecret } from './secrets.ts';

const dayMs = 24 * 60 * 60 * 1_000;

/** The agent that owns the webhooks, and the caller's scopes, which limit the events. */
export interface WebhookOwner {
  agent_id: string;
  scopes: ReadonlySet<string>;
}

export interface NewWebhook {
  url: string;
  /** Null: all types that the caller's scopes allow, including types of later releases. */
  event_types: readonly EventType[] | null;
  description: string;
  only_when_offline: boolean;
}

export type WebhookChanges = { [Name in keyof NewWebhook]?: NewWebhook[Name] | undefined } & {
  enabled?: boolean | undefined;
};

/**
 * Creates a webhook, which receives the agent's events from now on.
 * @returns the webhook and its secret, which cannot be shown again.
 * @throws {DomainError} VALIDATION_ERROR (the URL), INSUFFICIENT_SCOPE (for one of the event types), FORBIDDEN if the agent has 10
 * already, NOT_FOUND if it is retired
 */
export async function createWebhook(work: SystemWork, owner: WebhookOwner, input: NewWebhook) {
  const { agent_id } = owner;
  requireAllowedUrl(work, input.url);
  requireVisibleEventTypes(owner.scopes, input.event_types);
  // The lock keeps concurrent calls within the maximum.
  if (!(await work.db.agents.lock(agent_id))) throw new DomainError('NOT_FOUND', 'No such agent.');
  if ((await work.db.webhooks.count(agent_id)) >= maxWebhooks) {
    throw new DomainError(
      'FORBIDDEN',
      `An agent can have at most ${maxWebhooks} webhooks; remove one first.`,
    );
  }
  const id = newId('webhook');
  const { secret, sealed } = createWebhookSecret(work.settings.sealedBox, id);
  const webhook = await work.db.webhooks.insert({
    ...input,
    id,
    agent_id,
    event_types: input.event_types && [...input.event_types],
    scopes: [...owner.scopes],
    secret: sealed,
    created_at: work.now,
  });
  if (!webhook) throw new Error('the webhook was not inserted');
  work.changes.audit({ act: 'webhook.created', agent_id, about: id, detail: { host: readHost(input.url) } });
  return { webhook, secret };
}

/** Returns the webhooks of an agent, oldest first. */
export function listWebhooks({ db: { webhooks } }: ReadWork, agent_id: string) {
  return webhooks.list(agent_id);
}

/**
 * Changes a webhook. A change of the URL or the event types limits the webhook to the caller's scopes. Disabling abandons its pending
 * deliveries; enabling starts with new events.
 * @throws {DomainError} NOT_FOUND; VALIDATION_ERROR, INSUFFICIENT_SCOPE as createWebhook
 */
export async function updateWebhook(
  work: SystemWork,
  owner: WebhookOwner,
  id: string,
  changes: WebhookChanges,
): Promise<Webhook> {
  const before = await requireWebhook(work, owner.agent_id, id, { lock: true });
  if (changes.url !== undefined) requireAllowedUrl(work, changes.url);
  const isRedirected = changes.url !== undefined || changes.event_types !== undefined;
  const event_types = changes.event_types === undefined ? before.event_types : changes.event_types;
  if (isRedirected) requireVisibleEventTypes(owner.scopes, event_types as readonly EventType[] | null);
  const settings = {
    url: changes.url ?? before.url,
    description: changes.description ?? before.description,
    event_types: event_types && [...event_types],
    scopes: isRedirected ? [...owner.scopes] : before.scopes,
    only_when_offline: changes.only_when_offline ?? before.only_when_offline,
    enabled: changes.enabled ?? before.enabled,
  };
  const webhook = await work.db.webhooks.update(id, owner.agent_id, settings, work.now);
  if (!webhook) throw new Error('the locked webhook was not updated');
  const { enabled } = webhook;
  const about = { agent_id: owner.agent_id, about: id };
  work.changes.audit({ act: 'webhook.changed', ...about, detail: { host: readHost(webhook.url), enabled } });
  if (!webhook.enabled) await work.db.webhookDeliveries.abandon(id, webhookDisabled, maxAbandonedAtOnce);
  return webhook;
}

/**
 * Removes a webhook and abandons its pending deliveries.
 * @throws {DomainError} NOT_FOUND
 */
export async function removeWebhook(work: SystemWork, agent_id: string, id: string): Promise<void> {
  await requireWebhook(work, agent_id, id, { lock: true });
  await work.db.webhooks.remove(id, agent_id);
  work.changes.audit({ act: 'webhook.removed', agent_id, about: id });
  await work.db.webhookDeliveries.abandon(id, webhookRemoved, maxAbandonedAtOnce);
}

/**
 * Gives a webhook a new secret. The previous one also signs for 24 hours; older ones end at once.
 * @returns the new secret, which cannot be shown again.
 * @throws {DomainError} NOT_FOUND
 */
export async function rotateWebhookSecret(work: SystemWork, agent_id: string, id: string) {
  const before = await requireWebhook(work, agent_id, id, { lock: true });
  const { secret, sealed } = createWebhookSecret(work.settings.sealedBox, id);
  // An unreadable secret cannot sign.
  const until = canSign(work.settings.sealedBox, before) ? work.now + dayMs : work.now;
  const time = { until, now: work.now };
  const webhook = await work.db.webhooks.setSecret(id, agent_id, sealed, time);
  if (!webhook) throw new Error('the locked webhook was not updated');
  work.changes.audit({ act: 'webhook.secret_rotated', agent_id, about: id });
  return { webhook, secret };
}

/** Returns the host only, because some receivers put a secret into the path. */
function readHost(url: string): string {
  return new URL(url).host;
}

function requireAllowedUrl({ settings: { webhookSender } }: SystemWork, url: string): void {
  const problem = webhookSender.checkUrl(url);
  if (problem !== undefined) throw wrongField('url', problem);
}
