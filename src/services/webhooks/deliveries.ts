import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { isId, minIdAt } from '../../../packages/core/src/domain/ids.ts';
import { type DeliveryState, webhooksTopic } from '../../../packages/core/src/domain/webhooks.ts';
import type { BusMessage } from '../../work/change-set.ts';
import type { ReadWork, SystemWork, Work } from '../../work/unit-of-work.ts';
import { type PageRequest, readPage } from '../paging.ts';
import { type Webhook, requireWebhook } from './access.ts';

/** Maximum number of deliveries that one call replays. */
export const maxReplayed = 1_000;

/**
 * Returns a page of the deliveries of a webhook, newest first.
 * @throws {DomainError} NOT_FOUND, INVALID_CURSOR
 */
export async function listDeliveries(
  work: Work,
  {
    webhook_id,
    state = null,
    ...request
  }: PageRequest & { webhook_id: string; state?: DeliveryState | null | undefined },
) {
  await requireWebhook(work, work.actor.agent_id, webhook_id);
  return readPage(work, request, {
    binding: ['list_webhook_deliveries', webhook_id, state],
    rows: (after: readonly [string] | null, limit) =>
      work.db.webhookDeliveries.list(webhook_id, { before: after?.[0] ?? null, state, limit }),
    position: (delivery) => [delivery.event_id],
  });
}

/**
 * Returns the newest deliveries of a webhook, for operators.
 * @throws {DomainError} NOT_FOUND
 */
export async function listLatestDeliveries(
  work: ReadWork,
  agent_id: string,
  id: string,
  { state, limit }: { state: DeliveryState | null; limit: number },
) {
  await requireWebhook(work, agent_id, id);
  return work.db.webhookDeliveries.list(id, { before: null, state, limit });
}

/**
 * Sends the event of a delivery again, with a new retry schedule.
 * @param event_id identifies the delivery.
 * @throws {DomainError} NOT_FOUND; INVALID_TRANSITION if the webhook is disabled
 */
export async function replayDelivery(work: SystemWork, agent_id: string, id: string, event_id: string) {
  await requireEnabledWebhook(work, agent_id, id);
  const delivery = isId('event', event_id)
    ? await work.db.webhookDeliveries.replay(id, event_id, work.now)
    : undefined;
  if (!delivery) throw new DomainError('NOT_FOUND', 'This webhook has no such delivery.');
  return delivery;
}

/**
 * Sends permanently failed deliveries since a time (ms) again, oldest first, at most 1,000.
 * @returns their number, and whether these were all.
 * @throws {DomainError} as replayDelivery
 */
export async function replayFailed(work: SystemWork, agent_id: string, id: string, since: number) {
  await requireEnabledWebhook(work, agent_id, id);
  const from = minIdAt('event', since);
  const replayed = await work.db.webhookDeliveries.replayFailed(id, from, work.now, maxReplayed);
  return { replayed, complete: replayed < maxReplayed };
}

/** Returns the bus message that makes a worker check a webhook at once; without it the sweep does so seconds later. */
export function webhookMessage(id: string): BusMessage {
  return { topic: webhooksTopic, body: id };
}

async function requireEnabledWebhook(work: SystemWork, agent_id: string, id: string): Promise<Webhook> {
  const webhook = await requireWebhook(work, agent_id, id, { lock: true });
  if (webhook.enabled) return webhook;
  throw new DomainError('INVALID_TRANSITION', 'This webhook is disabled; enable it first.');
}
