import { DomainError } from '../../domain/errors.ts';
import { isId } from '../../domain/ids.ts';
import type { SystemWork } from '../../work/unit-of-work.ts';

type Webhooks = Pick<SystemWork, 'webhooks'>;
type AbandonRepositories = Pick<SystemWork, 'webhooks' | 'webhookDeliveries'>;

/** A webhook as it is kept. Its secrets are sealed. */
export type Webhook = NonNullable<Awaited<ReturnType<Webhooks['webhooks']['find']>>>;

/**
 * A webhook of this agent; "absent" and "somebody else's" look alike.
 * @param lock hold it until the transaction ends.
 * @throws {DomainError} NOT_FOUND
 */
export async function requireWebhook(
  { webhooks }: Webhooks,
  agent_id: string,
  id: string,
  { lock = false } = {},
): Promise<Webhook> {
  const known = isId('webhook', id);
  const webhook = known ? await (lock ? webhooks.lock(id, agent_id) : webhooks.find(id)) : undefined;
  if (webhook?.agent_id !== agent_id) throw new DomainError('NOT_FOUND', 'You have no such webhook.');
  return webhook;
}

/**
 * A webhook of any agent, for operators.
 * @throws {DomainError} NOT_FOUND
 */
export async function requireAnyWebhook({ webhooks }: Webhooks, id: string): Promise<Webhook> {
  const webhook = await webhooks.find(id);
  if (!webhook) throw new DomainError('NOT_FOUND', `No such webhook: ${id.slice(0, 80)}`);
  return webhook;
}

/** Ends everything that is posted of an agent. What was posted stays in the log until it is old. */
export async function removeWebhooksOf(work: AbandonRepositories, agent_id: string): Promise<void> {
  await abandonAll(work, await work.webhooks.removeAllOf(agent_id));
}

/**
 * The same for the agents of an organization that are tied to a person who leaves it: where their events go, only that person has
 * said.
 */
export async function removeWebhooksOfMember(
  work: AbandonRepositories,
  organization_id: string,
  account_id: string,
): Promise<void> {
  await abandonAll(work, await work.webhooks.removeOfMember(organization_id, account_id));
}

async function abandonAll({ webhookDeliveries }: AbandonRepositories, ids: readonly string[]): Promise<void> {
  for (const id of ids) await webhookDeliveries.abandon(id, webhookRemoved, maxAbandonedAtOnce);
}

/**
 * How much is given up in one transaction of a webhook that ends. It may have been away for weeks and have more: what is left a worker
 * finds as it falls due, posts nothing, and gives the rest up.
 */
export const maxAbandonedAtOnce = 2_000;

/** What the log says of deliveries that are no longer tried. */
export const webhookRemoved = 'the webhook was removed';
export const webhookDisabled = 'the webhook was disabled';
