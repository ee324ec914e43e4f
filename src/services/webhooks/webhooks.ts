import { DomainError, wrongField } from '../../domain/errors.ts';
import { type EventType, eventScopes, canSeeEvent } from '../../domain/feed/events.ts';
import { newId } from '../../domain/ids.ts';
import { maxWebhooks } from '../../domain/webhooks.ts';
import type { SystemWork } from '../../work/unit-of-work.ts';
import {
  maxAbandonedAtOnce,
  type Webhook,
  webhookDisabled,
  requireWebhook,
  webhookRemoved,
} from './access.ts';
import { canSign, createWebhookSecret } from './secrets.ts';

const dayMs = 24 * 60 * 60 * 1_000;

/** Whose webhooks they are, and what the one who asks may see of that agent's events. */
export interface WebhookOwner {
  agent_id: string;
  scopes: ReadonlySet<string>;
}

export interface NewWebhook {
  url: string;
  /** Null: every type that the one who asks may see, those of later releases too. */
  event_types: readonly EventType[] | null;
  description: string;
  only_when_offline: boolean;
}

export type WebhookChanges = { [Name in keyof NewWebhook]?: NewWebhook[Name] | undefined } & {
  enabled?: boolean | undefined;
};

/**
 * Has events of an agent posted to an address, from now on.
 * @returns its secret beside it: the only time that it is shown.
 * @throws {DomainError} VALIDATION_ERROR (the address), INSUFFICIENT_SCOPE (an event type that the caller may not see), FORBIDDEN
 * when the agent has 10 already, NOT_FOUND when it is retired
 */
export async function createWebhook(work: SystemWork, owner: WebhookOwner, input: NewWebhook) {
  const { agent_id } = owner;
  requireAllowedUrl(work, input.url);
  requireVisibleEventTypes(owner, input.event_types);
  // Held, so that two at once do not make eleven.
  if (!(await work.agents.lock(agent_id))) throw new DomainError('NOT_FOUND', 'There is no such agent.');
  if ((await work.webhooks.count(agent_id)) >= maxWebhooks) {
    throw new DomainError('FORBIDDEN', `An agent has at most ${maxWebhooks} webhooks; remove one first.`);
  }
  const id = newId('webhook');
  const { secret, sealed } = createWebhookSecret(work.sealedBox, id);
  const webhook = await work.webhooks.insert({
    ...input,
    id,
    agent_id,
    event_types: input.event_types && [...input.event_types],
    scopes: [...owner.scopes],
    secret: sealed,
    created_at: work.now,
  });
  if (!webhook) throw new Error('the webhook was not inserted');
  work.audit({ act: 'webhook.created', agent_id, about: id, detail: { host: readHost(input.url) } });
  return { webhook, secret };
}

/** The webhooks of an agent, oldest first. */
export function listWebhooks({ webhooks }: Pick<SystemWork, 'webhooks'>, agent_id: string) {
  return webhooks.list(agent_id);
}

/**
 * Changes a webhook. Who says where events go, or which, has them carry only what it may see itself. To disable gives up what is
 * still to be posted; to enable begins with what happens from then on.
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
  const redirected = changes.url !== undefined || changes.event_types !== undefined;
  const event_types = changes.event_types === undefined ? before.event_types : changes.event_types;
  if (redirected) requireVisibleEventTypes(owner, event_types as readonly EventType[] | null);
  const settings = {
    url: changes.url ?? before.url,
    description: changes.description ?? before.description,
    event_types: event_types && [...event_types],
    scopes: redirected ? [...owner.scopes] : before.scopes,
    only_when_offline: changes.only_when_offline ?? before.only_when_offline,
    enabled: changes.enabled ?? before.enabled,
  };
  const webhook = await work.webhooks.update(id, owner.agent_id, settings, work.now);
  if (!webhook) throw new Error('a webhook that is held was not updated');
  const { enabled } = webhook;
  const about = { agent_id: owner.agent_id, about: id };
  work.audit({ act: 'webhook.changed', ...about, detail: { host: readHost(webhook.url), enabled } });
  if (!webhook.enabled) await work.webhookDeliveries.abandon(id, webhookDisabled, maxAbandonedAtOnce);
  return webhook;
}

/**
 * Ends a webhook, with what is still to be posted.
 * @throws {DomainError} NOT_FOUND
 */
export async function removeWebhook(work: SystemWork, agent_id: string, id: string): Promise<void> {
  await requireWebhook(work, agent_id, id, { lock: true });
  await work.webhooks.remove(id, agent_id);
  work.audit({ act: 'webhook.removed', agent_id, about: id });
  await work.webhookDeliveries.abandon(id, webhookRemoved, maxAbandonedAtOnce);
}

/**
 * Gives a webhook another secret. The one until now signs too for 24 hours; one before that no longer does.
 * @returns the new one: the only time that it is shown.
 * @throws {DomainError} NOT_FOUND
 */
export async function rotateWebhookSecret(work: SystemWork, agent_id: string, id: string) {
  const before = await requireWebhook(work, agent_id, id, { lock: true });
  const { secret, sealed } = createWebhookSecret(work.sealedBox, id);
  // One that cannot be read any more can sign nothing.
  const until = canSign(work.sealedBox, before) ? work.now + dayMs : work.now;
  const time = { until, now: work.now };
  const webhook = await work.webhooks.setSecret(id, agent_id, sealed, time);
  if (!webhook) throw new Error('a webhook that is held was not updated');
  work.audit({ act: 'webhook.secret_rotated', agent_id, about: id });
  return { webhook, secret };
}

/** The path of an address is a secret at some receivers. */
function readHost(url: string): string {
  return new URL(url).host;
}

function requireAllowedUrl({ webhookSender }: SystemWork, url: string): void {
  const refusal = webhookSender.checkUrl(url);
  if (refusal !== undefined) throw wrongField('url', refusal);
}

/** A webhook shows events as a stream does: none that the token may not see. */
function requireVisibleEventTypes({ scopes }: WebhookOwner, types: readonly EventType[] | null): void {
  const hidden = types?.find((type) => !canSeeEvent(scopes, type));
  if (hidden === undefined) return;
  const scope = eventScopes[hidden];
  throw new DomainError('INSUFFICIENT_SCOPE', `To post ${hidden} needs a token with the scope ${scope}.`, {
    scope,
  });
}
