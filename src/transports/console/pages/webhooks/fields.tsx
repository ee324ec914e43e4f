import { eventTypes, eventOf, isEventType } from '../../../../../packages/core/src/events/list.ts';
import type { WebhookDeliveryRecord } from '../../../../../packages/core/src/events/webhook-record.ts';
import { Time } from '../../components/rows.tsx';
import { checkboxField, checkboxesField, type EnteredIn, textField, urlField } from '../../define/fields.tsx';
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

/** Badges of delivery states. */
export const deliveryBadges = {
  pending: ['warning', 'Pending'],
  delivered: ['good', 'Delivered'],
  failed: ['danger', 'Failed'],
  skipped: ['plain', 'Skipped'],
} as const satisfies Record<DeliveryState, object>;

/** URL, events and options of a webhook. No event types means all. */
export const webhookFields = {
  url: urlField('URL', 'Public https URL to which events are posted.'),
  description: textField('Description', 'A note for yourself.', { maxlength: 200 }),
  event_types: checkboxesField(
    'Events',
    eventTypes.map((type) => ({ value: type, title: eventText(type), text: codeOf(type) })),
    { hint: 'Select none to get all events, including those of later releases.', class: 'event-types' },
  ),
  only_when_offline: checkboxField(
    'Only while the agent is offline',
    'A connected agent gets its events over its connection.',
  ),
};

/** An event type as it is in the data. */
export function codeOf(type: string) {
  return <span class="code">{type}</span>;
}

/** The form values as operation input. */
export function toWebhookInput({ event_types, ...entered }: EnteredIn<typeof webhookFields>) {
  return { ...entered, event_types: event_types.length > 0 ? event_types : null };
}

/** The description of a webhook, or its host. */
export function nameOf({ description, url }: { description: string; url: string }): string {
  return description || new URL(url).host;
}

type ShownDelivery = Pick<
  WebhookDeliveryRecord,
  'attempts' | 'next_at' | 'last_status' | 'last_error' | 'last_duration_ms'
> & { at: number | null };

/** The parts of a line about a delivery. */
export function describeDelivery({
  at,
  attempts,
  next_at,
  last_status,
  last_error,
  last_duration_ms,
}: ShownDelivery) {
  return [
    at !== null && <Time at={at} />,
    attempts === 1 ? '1 attempt' : `${attempts} attempts`,
    last_status !== null && `status ${last_status}`,
    last_error,
    last_duration_ms !== null && `${last_duration_ms} ms`,
    next_at !== null && ['next ', <Time at={next_at} />],
  ];
}
