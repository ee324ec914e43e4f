import type { Actor } from '../../../../packages/core/src/domain/auth/actor.ts';
import type {
  SubscribeOutcome,
  SubscriptionRequest,
  SubscriptionTarget,
} from '../../../services/event-subscriptions/subscribe.ts';

/** Subscriptions whose events are sent to a URL. */
export interface EventSubscriptions {
  /** @throws {DomainError} VALIDATION_ERROR */
  subscribe(actor: Actor, request: SubscriptionRequest): Promise<SubscribeOutcome>;
  /** Returns false if there is no such subscription. */
  unsubscribe(actor: Actor, target: SubscriptionTarget): Promise<boolean>;
  /** Records that the client makes calls: its events are held for some time. Never throws. */
  recordCall(actor: Actor): void;
  /** For how long after a call the events of a client of the sketch are held, in ms. */
  hold_ms: number;
}
