import type { EventRow } from '../../src/repositories/feed/events.ts';
import type { Core } from '../../src/compose.ts';
import { maxHoldMs } from '../../packages/core/src/domain/feed/event-dialects.ts';
import { createEventFilter } from '../../packages/core/src/events/event-filter.ts';
import { canSeeEvent } from '../../packages/core/src/events/feed-event.ts';
import { type EventType } from '../../packages/core/src/events/list.ts';
import { toOccurrence } from '../../packages/core/src/events/occurrence.ts';
import type { WebhookPacing } from '../../packages/core/src/domain/webhooks.ts';
import { presentEventData } from '../../packages/core/src/events/present-event.ts';
import { startPosition } from '../../src/realtime/feed/start-position.ts';
import type { Receipts } from '../../src/realtime/receipts.ts';
import { canSign } from '../../src/services/webhooks/secrets.ts';
import { controlId } from '../../src/services/event-subscriptions/requests.ts';
import type { PostingSource, Step } from './handler.ts';
import { type Claimed, createSubscriptionSender } from './subscription-sender.ts';

const entriesPerRead = 100;

/**
 * The subscriptions of MCP clients. After the last failed attempt a subscription pauses until its client renews it. An event that the
 * receiver rejects is skipped, and a `gap` is sent, which is never skipped.
 */
export function subscriptionSource(
  core: Core,
  receipts: Pick<Receipts, 'delivered'>,
  pacing: WebhookPacing,
): PostingSource {
  const { eventSubscriptions } = core.db;
  return {
    owns: (id) => id.startsWith('sub_'),
    async claim(id) {
      const claimed = await eventSubscriptions.claim(id, Date.now(), pacing.leaseMs);
      return (
        claimed && {
          agent_id: claimed.agent_id,
          isDue: () => eventSubscriptions.isDue(id, Date.now()),
          ...createTurn(core, receipts, pacing, claimed),
        }
      );
    },
  };
}

function createTurn(
  core: Core,
  receipts: Pick<Receipts, 'delivered'>,
  pacing: WebhookPacing,
  subscription: Claimed,
) {
  const { feed, eventSubscriptions } = core.db;
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

  /** Sends one event, or skips it. */
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
      // After the read: no event that follows the end of the access is sent.
      if (!(await eventSubscriptions.isPermitted(subscription.id))) return end('The access was revoked.');
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
