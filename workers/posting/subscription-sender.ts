import type { ClaimedSubscription } from '../../src/repositories/event-subscriptions/event-subscriptions.ts';
import type { Core } from '../../src/compose.ts';
import { eventErrorBody } from '../../packages/core/src/domain/feed/event-dialects.ts';
import { attemptOutcome } from '../../packages/core/src/domain/outbound.ts';
import type { WebhookPacing } from '../../packages/core/src/domain/webhooks.ts';
import { canSign } from '../../src/services/webhooks/secrets.ts';
import {
  controlId,
  signRequest,
  toCallbackFailure,
} from '../../src/services/event-subscriptions/requests.ts';
import { nextAttemptAt, type Step } from './handler.ts';

export type Claimed = ClaimedSubscription;

/** Sends the requests of a claimed subscription, and stores their results. It changes the object of the subscription. */
export function createSubscriptionSender(core: Core, pacing: WebhookPacing, subscription: Claimed) {
  const { id } = subscription;
  const { eventSubscriptions } = core.db;

  /** Stores the state and extends the lease. Returns false if another process has the subscription now. */
  async function store(next_at = Date.now() + pacing.leaseMs): Promise<boolean> {
    const lease = subscription.next_at;
    subscription.next_at = next_at;
    const stored = await eventSubscriptions.store(id, lease, subscription);
    if (stored) subscription.last_call_at = stored.last_call_at;
    return stored !== undefined;
  }

  async function post(message_id: string, body: object) {
    const request = signRequest(core, subscription, { message_id, body, now: Date.now() });
    const response = await core.settings.webhookSender.send(request);
    const failure = toCallbackFailure(response);
    core.metrics.webhookAttempts.inc({ outcome: attemptOutcome(response) });
    return { ...response, failure };
  }

  /** Ends the subscription, and says why if there is a reason. */
  async function end(reason: string | undefined): Promise<Step> {
    if (reason !== undefined && canSign(core.settings.sealedBox, subscription)) {
      const error = eventErrorBody(subscription.dialect, 'forbidden', { reason });
      await post(controlId('terminated'), { type: 'terminated', error });
    }
    // If the client has renewed it in the meantime, the next turn reads its new state.
    return (await eventSubscriptions.removeClaimed(subscription)) ? 'ended' : { until: Date.now() };
  }

  /**
   * Records the result of a request. Returns `accepted`, or the next step.
   * @param leaveOut absent for a request that must not be skipped
   */
  async function settle(
    { status, failure, retryAfterMs }: Awaited<ReturnType<typeof post>>,
    leaveOut?: () => void,
  ): Promise<'accepted' | Step> {
    const now = Date.now();
    subscription.last_error = failure;
    if (failure === null) {
      Object.assign(subscription, { attempts: 0, failed_since: null, last_delivery_at: now });
      return 'accepted';
    }
    if (status === 410) return end(undefined);
    subscription.failed_since ??= now;
    subscription.attempts += 1;
    const until = nextAttemptAt(pacing, subscription.attempts, retryAfterMs);
    const isRejected = failure === 'http_4xx' && status !== 429 && status !== 408;
    const isFinal = status === 413 || until === undefined;
    if (isRejected && isFinal && leaveOut) {
      leaveOut();
      subscription.attempts = 0;
      return (await store()) ? 'more' : 'ended';
    }
    if (isFinal) {
      subscription.active = false;
      return { until: now };
    }
    return { until };
  }

  return { store, post, end, settle };
}
