import type { WebhookRow } from '../../repositories/webhooks/webhooks.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { isId } from '../../../packages/core/src/domain/ids.ts';
import type { ReadWork } from '../../work/unit-of-work.ts';

/** A webhook as it is stored. Its secrets are sealed. */
export type Webhook = WebhookRow;

/**
 * Returns a webhook of this agent.
 * @param lock lock it until the transaction ends.
 * @throws {DomainError} NOT_FOUND, the same for an absent webhook and for another agent's
 */
export async function requireWebhook(
  { db: { webhooks } }: ReadWork,
  agent_id: string,
  id: string,
  { lock = false } = {},
): Promise<Webhook> {
  const isValidId = isId('webhook', id);
  const webhook = isValidId ? await (lock ? webhooks.lock(id, agent_id) : webhooks.find(id)) : undefined;
  if (webhook?.agent_id !== agent_id) throw new DomainError('NOT_FOUND', 'No such webhook.');
  return webhook;
}

/**
 * Returns a webhook of any agent, for operators.
 * @throws {DomainError} NOT_FOUND
 */
export async function requireAnyWebhook({ db: { webhooks } }: ReadWork, id: string): Promise<Webhook> {
  const webhook = await webhooks.find(id);
  if (!webhook) throw new DomainError('NOT_FOUND', `No such webhook: ${id.slice(0, 80)}`);
  return webhook;
}

/** Abandons the deliveries of removed webhooks. Their delivery log stays until it expires. */
export async function abandonWebhooks({ db }: ReadWork, ids: readonly string[]): Promise<void> {
  for (const id of ids) await db.webhookDeliveries.abandon(id, webhookRemoved, maxAbandonedAtOnce);
}

/**
 * Maximum number of deliveries that are abandoned in the transaction that ends a webhook. A worker abandons the rest when they are
 * due.
 */
export const maxAbandonedAtOnce = 2_000;

/** Reasons in the delivery log for abandoned deliveries. */
export const webhookRemoved = 'the webhook was removed';
export const webhookDisabled = 'the webhook was disabled';
