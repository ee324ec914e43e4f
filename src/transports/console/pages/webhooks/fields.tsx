import { eventTypes } from '../../../../../packages/core/src/events/list.ts';
import { checkboxField, checkboxesField, type EnteredIn, textField } from '../../define/fields.tsx';
import { eventText } from './webhook-text.ts';

/** URL, events and options of a webhook. No event types means all. */
export const webhookFields = {
  url: textField('URL', 'Public https URL to which events are posted.', {
    maxlength: 2048,
    plain: true,
    required: true,
  }),
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
