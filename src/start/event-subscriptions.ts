import { LRUCache } from 'lru-cache';
import type { Core } from '../compose.ts';
import { enqueuePosting } from '../jobs/posting.ts';
import { subscribe, unsubscribe } from '../services/event-subscriptions/subscribe.ts';
import type { EventSubscriptions } from '../transports/mcp/events/event-subscriptions.ts';

/** How often a client that makes calls is recorded, in ms. */
const callRecordIntervalMs = 2_000;

/** Subscriptions of MCP clients with a URL. The workers send their events. */
export function createEventSubscriptions(core: Core): EventSubscriptions {
  const { unitOfWork, db, config, logger } = core;
  const hold_ms = config.EVENTS_HOLD_SECONDS * 1_000;
  const recorded = new LRUCache<string, true>({ max: 10_000, ttl: callRecordIntervalMs });

  return {
    hold_ms,
    async subscribe(actor, request) {
      const outcome = await subscribe(unitOfWork, core, actor, request);
      if (outcome.kind === 'subscribed') enqueuePosting(core, outcome.subscription.id);
      return outcome;
    },
    unsubscribe: (actor, target) => unsubscribe(unitOfWork, actor, target),
    recordCall({ agent_id, client_id }) {
      const key = `${agent_id} ${client_id}`;
      if (hold_ms === 0 || recorded.has(key)) return;
      recorded.set(key, true);
      db.eventSubscriptions
        .recordCall(agent_id, client_id, Date.now())
        .catch((error: unknown) => logger.debug({ err: error }, 'a call of a subscriber was not recorded'));
    },
  };
}
