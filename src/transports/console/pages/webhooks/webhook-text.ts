import { eventOf, isEventType } from '../../../../../packages/core/src/events/list.ts';
import type { DeliveryState, DisabledReason } from '../../../../../packages/core/src/domain/webhooks.ts';

/** The label of an event type; the type itself if it is of another release. */
export const eventText = (type: string): string => (isEventType(type) ? eventOf(type).label : type);

/** Why a webhook is disabled. */
export const disabledReasonText: Record<DisabledReason, string> = {
  by_request: 'Disabled by you or the agent.',
  gone: 'Disabled because the server answered 410 Gone.',
  failing:
    'Disabled because all attempts to deliver an event failed and no other event was delivered in that time.',
};

type Tone = 'plain' | 'good' | 'warning' | 'danger';

/** Labels of delivery states. */
export const deliveryStateLabels: Record<DeliveryState, { tone: Tone; text: string }> = {
  pending: { tone: 'warning', text: 'Pending' },
  delivered: { tone: 'good', text: 'Delivered' },
  failed: { tone: 'danger', text: 'Failed' },
  skipped: { tone: 'plain', text: 'Skipped' },
};
