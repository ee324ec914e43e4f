import { eventTypes } from '../../../../../packages/core/src/events/list.ts';
import { Checkbox } from '../../components/choices.tsx';
import { Field } from '../../components/field.tsx';
import { eventText } from './webhook-text.ts';

/** Form values of a webhook. No event types means all. */
export interface EnteredWebhook {
  url: string;
  description: string;
  event_types: readonly string[];
  only_when_offline: boolean;
}

/** Reads a webhook form. */
export function readWebhookForm(form: URLSearchParams): EnteredWebhook {
  return {
    url: (form.get('url') ?? '').trim(),
    description: (form.get('description') ?? '').trim(),
    event_types: [...new Set(form.getAll('event_types'))],
    only_when_offline: form.get('only_when_offline') === 'on',
  };
}

/** The form values as operation input. */
export function toWebhookInput({ event_types, ...entered }: EnteredWebhook) {
  return { ...entered, event_types: event_types.length > 0 ? event_types : null };
}

interface WebhookFieldsProps {
  entered: EnteredWebhook;
  errors: Readonly<Record<string, string>>;
}

/** URL, events and options of a webhook. */
export function WebhookFields({ entered, errors }: WebhookFieldsProps) {
  return (
    <>
      <Field
        name="url"
        label="URL"
        hint="Public https URL to which events are posted."
        value={entered.url}
        error={errors['url']}
        maxlength={2048}
        plain
        required
      />
      <Field
        name="description"
        label="Description"
        hint="A note for yourself."
        value={entered.description}
        error={errors['description']}
        maxlength={200}
      />
      <fieldset class="choices">
        <legend>Events</legend>
        <p class="hint">Select none to get all events, including those of later releases.</p>
        <div class="event-types">
          {eventTypes.map((type) => (
            <Checkbox
              name="event_types"
              value={type}
              label={eventText(type)}
              hint={<span class="code">{type}</span>}
              checked={entered.event_types.includes(type)}
              key={type}
            />
          ))}
        </div>
      </fieldset>
      <Checkbox
        name="only_when_offline"
        label="Only while the agent is offline"
        hint="A connected agent gets its events over its connection."
        checked={entered.only_when_offline}
      />
    </>
  );
}
