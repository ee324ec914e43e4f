import { DomainError } from '../../domain/errors.ts';
import { isId, minIdAt } from '../../domain/ids.ts';
import { type DeliveryState, webhooksTopic } from '../../domain/webhooks.ts';
import type { BusMessage } from '../../work/change-set.ts';
import type { SystemWork, Work } from '../../work/unit-of-work.ts';
import { type PageRequest, readPage } from '../paging.ts';
import { type Webhook, requireWebhook } from './access.ts';

/** Deliveries that one call brings back, at most. */
export const maxReplayed = 1_000;

/**
 * A page of what became of the events at a webhook, newest first.
 * @throws {DomainError} NOT_FOUND, INVALID_CURSOR
 */
export async function listDeliveries(
  work: Work,
  {
    webhook_id,
    state = null,
    ...request
  }: PageRequest & { webhook_id: string; state?: DeliveryState | null },
) {
  await requireWebhook(work, work.actor.agent_id, webhook_id);
  const { rows, next_cursor } = await readPage(work, request, {
    binding: ['list_webhook_deliveries', webhook_id, state],
    rows: (after: readonly [string] | null, limit) =>
      work.webhookDeliveries.list(webhook_id, { before: after?.[0] ?? null, state, limit }),
    position: (delivery) => [delivery.event_id],
  });
  return { deliveries: rows, next_cursor };
}

/**
 * The newest of what became of the events at a webhook, for operators.
 * @throws {DomainError} NOT_FOUND
 */
export async function listLatestDeliveries(
  work: Pick<SystemWork, 'webhooks' | 'webhookDeliveries'>,
  agent_id: string,
  id: string,
  { state, limit }: { state: DeliveryState | null; limit: number },
) {
  await requireWebhook(work, agent_id, id);
  return work.webhookDeliveries.list(id, { before: null, state, limit });
}

/**
 * Posts an event once more, with the whole schedule before it.
 * @param event_id what the delivery is named by.
 * @throws {DomainError} NOT_FOUND; INVALID_TRANSITION when the webhook is disabled
 */
export async function replayDelivery(work: SystemWork, agent_id: string, id: string, event_id: string) {
  await requireEnabledWebhook(work, agent_id, id);
  const delivery = isId('event', event_id)
    ? await work.webhookDeliveries.replay(id, event_id, work.now)
    : undefined;
  if (!delivery) throw new DomainError('NOT_FOUND', 'This webhook has no such delivery.');
  return delivery;
}

/**
 * Posts once more what failed for good since a time (ms), the oldest first, at most 1,000 of them.
 * @returns how many, and whether that was all.
 * @throws {DomainError} as replayDelivery
 */
export async function replayFailed(work: SystemWork, agent_id: string, id: string, since: number) {
  await requireEnabledWebhook(work, agent_id, id);
  const from = minIdAt('event', since);
  const replayed = await work.webhookDeliveries.replayFailed(id, from, work.now, maxReplayed);
  return { replayed, complete: replayed < maxReplayed };
}

/** What has a worker look at a webhook at once; without it the sweep does, seconds later. */
export function webhookMessage(id: string): BusMessage {
  return { topic: webhooksTopic, body: id };
}

async function requireEnabledWebhook(work: SystemWork, agent_id: string, id: string): Promise<Webhook> {
  const webhook = await requireWebhook(work, agent_id, id, { lock: true });
  if (webhook.enabled) return webhook;
  throw new DomainError('INVALID_TRANSITION', 'This webhook is disabled; enable it first.');
}
