import type { EventRow } from '../src/repositories/feed/events.ts';
import type { Core } from '../src/compose.ts';
import { maxHoldMs } from '../packages/core/src/domain/feed/event-dialects.ts';
import { createEventFilter } from '../packages/core/src/events/event-filter.ts';
import { canSeeEvent } from '../packages/core/src/events/feed-event.ts';
import { type EventType } from '../packages/core/src/events/list.ts';
import { toOccurrence } from '../packages/core/src/events/occurrence.ts';
import type { WebhookPacing } from '../packages/core/src/domain/webhooks.ts';
import { createSubscriptionJob, subscriptionPosting } from '../src/jobs/event-subscriptions.ts';
import { presentEventData } from '../packages/core/src/events/present-event.ts';
import { startPosition } from '../src/realtime/feed/start-position.ts';
import type { Receipts } from '../src/realtime/receipts.ts';
import { canSign } from '../src/services/webhooks/secrets.ts';
import { controlId } from '../src/services/event-subscriptions/requests.ts';
import { createAgentTurns } from './agent-turns.ts';
import type { JobHandler } from './consume-queues.ts';
import { type Claimed, createSubscriptionSender, type Step } from './subscription-sender.ts';

const entriesPerRead = 100;

/** Subscriptions of one agent that a worker process serves at the same time. */
const maxTurnsOfAgent = 4;

/**
 * Returns the handler that sends the events of a subscription in their order, one at a time. The position moves when the receiver has
 * accepted an event, so delivery can always continue there: after a kill, and after an outage. After the last failed attempt the
 * subscription pauses until its client renews it. An event that the receiver itself rejects is left out, and a `gap` follows, which is never
 * left out.
 */
export function subscriptionHandler(
  core: Core,
  receipts: Pick<Receipts, 'delivered'>,
  pacing: WebhookPacing,
): JobHandler<{ subscription_id: string }> {
  const { db, queues } = core;
  const { eventSubscriptions } = db;
  const turns = createAgentTurns(maxTurnsOfAgent);

  /** Returns when the subscription is due again (ms); undefined if nothing is left to do. */
  async function takeTurn(claimed: Claimed): Promise<number | undefined> {
    const { id } = claimed;
    const turn = createTurn(core, receipts, pacing, claimed);
    const end = Date.now() + pacing.turnMs;
    let step: Step = 'more';
    while (step === 'more' && Date.now() < end) step = await turn.next(end);
    if (step === 'ended') return undefined;
    const due = typeof step === 'object' ? step.until : Date.now();
    await turn.release(due);
    // An event that came after the last read found the subscription claimed.
    const hasMore = step !== 'idle' || (await eventSubscriptions.isDue(id, Date.now()));
    return hasMore ? due : undefined;
  }

  /** Gives up the lease until another turn of the agent ends. */
  async function putBack(claimed: Claimed): Promise<void> {
    const { id, agent_id, next_at: lease } = claimed;
    await eventSubscriptions.store(id, lease, { ...claimed, next_at: Date.now() });
    if (!turns.wait(agent_id, id)) await queues.enqueue([createSubscriptionJob(id, Date.now())]);
  }

  async function handle({ subscription_id: id }: { subscription_id: string }): Promise<void> {
    const claimed = await eventSubscriptions.claim(id, Date.now(), pacing.leaseMs);
    if (!claimed) return;
    const { agent_id } = claimed;
    if (!turns.begin(agent_id, id)) return putBack(claimed);
    let due: number | undefined;
    try {
      due = await takeTurn(claimed);
    } finally {
      const waiting = turns.end(agent_id);
      // First the one that waits, so that all have their turns.
      const jobs = waiting === undefined ? [] : [createSubscriptionJob(waiting, Date.now())];
      if (due !== undefined) jobs.push(createSubscriptionJob(id, due));
      await queues.enqueue(jobs);
    }
  }

  return { contract: subscriptionPosting, handle };
}

function createTurn(
  core: Core,
  receipts: Pick<Receipts, 'delivered'>,
  pacing: WebhookPacing,
  subscription: Claimed,
) {
  const { feed } = core.db;
  const { agent_id, event_type, scopes, handle } = subscription;
  const type = event_type as EventType;
  const matches = createEventFilter({ agent_id, handle }, type, subscription.arguments);
  const isVisible = canSeeEvent(new Set(scopes), type);
  const { store, post, end, settle } = createSubscriptionSender(core, pacing, subscription);
  const encode = (number: number) => core.settings.cursors.encodeFeed(agent_id, number);

  async function sendGap(): Promise<Step> {
    const cursor = encode(subscription.position);
    const result = await settle(await post(controlId('gap'), { type: 'gap', cursor }));
    if (result !== 'accepted') return result;
    subscription.has_gap = false;
    return (await store()) ? 'more' : 'ended';
  }

  /** Sends one event, or leaves it out. */
  async function send(number: number, event: EventRow | undefined): Promise<Step> {
    const shown = event && present(core, event, type);
    if (!shown) {
      Object.assign(subscription, { has_gap: true, position: number });
      return 'more';
    }
    if (!isVisible || shown.created_at < subscription.oldest_at || !matches(shown)) {
      subscription.position = number;
      return 'more';
    }
    const heldUntil = Math.min(
      (subscription.last_call_at ?? 0) + subscription.hold_ms,
      shown.created_at + maxHoldMs,
    );
    if (heldUntil > Date.now()) return { until: heldUntil };
    const body = { ...toOccurrence(shown), cursor: encode(number) };
    const result = await settle(await post(shown.id, body), () => {
      Object.assign(subscription, { has_gap: true, position: number });
    });
    if (result !== 'accepted') return result;
    subscription.position = number;
    receipts.delivered(agent_id, [shown]);
    return (await store()) ? 'more' : 'ended';
  }

  return {
    /** Sends the next events, until a time (ms). */
    async next(until: number): Promise<Step> {
      if (subscription.expires_at <= Date.now()) return end(undefined);
      if (!subscription.is_permitted) return end('The access was revoked.');
      // SECRET_KEY has changed. The client sends the secret again when it renews the subscription.
      if (!canSign(core.settings.sealedBox, subscription)) subscription.active = false;
      if (!subscription.active) return 'idle';
      const [bounds] = await feed.readBounds([agent_id]);
      if (!bounds) return end(undefined);
      const { position, gap } = startPosition(bounds, subscription.position);
      Object.assign(subscription, { position, has_gap: subscription.has_gap || gap });
      if (subscription.has_gap) return sendGap();
      const [entries = []] = await feed.read([{ agent_id, after: position }], entriesPerRead);
      if (entries.length === 0) return 'idle';
      const rows = await feed.readEvents(entries.map(({ event_id }) => event_id));
      const events = new Map(rows.map((event) => [event.id, event]));
      for (const { number, event_id } of entries) {
        const step = await send(number, events.get(event_id));
        if (step !== 'more' || subscription.has_gap || Date.now() >= until) return step;
      }
      return (await store()) ? 'more' : 'ended';
    },
    release: store,
  };
}

/** The event, with its data if it is of this type. Returns undefined if it cannot be presented. */
function present({ logger }: Core, event: EventRow, type: EventType) {
  try {
    return { ...event, data: event.type === type ? presentEventData(event) : {} };
  } catch (error) {
    logger.error({ err: error, event: event.id }, 'event cannot be presented');
    return undefined;
  }
}
