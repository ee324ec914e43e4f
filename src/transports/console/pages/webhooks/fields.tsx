import { eventTypes } from '../../../../domain/feed/events.ts';
import { Checkbox } from '../../components/choices.tsx';
import { Field } from '../../components/field.tsx';
import { eventText } from './webhook-text.ts';

/** What a form says of a webhook. No type of event is chosen: all are. */
export interface EnteredWebhook {
  url: string;
  description: string;
  event_types: readonly string[];
  only_when_offline: boolean;
}

export function readWebhookForm(form: URLSearchParams): EnteredWebhook {
  return {
    url: (form.get('url') ?? '').trim(),
    description: (form.get('description') ?? '').trim(),
    event_types: [...new Set(form.getAll('event_types'))],
    only_when_offline: form.get('only_when_offline') === 'on',
  };
}

/** The same as the operations take it. */
export function toWebhookInput({ event_types, ...entered }: EnteredWebhook) {
  return { ...entered, event_types: event_types.length > 0 ? event_types : null };
}

interface WebhookFieldsProps {
  entered: EnteredWebhook;
  errors: Readonly<Record<string, string>>;
}

/** Where events go, and which. */
export function WebhookFields({ entered, errors }: WebhookFieldsProps) {
  return (
    <>
      <Field
        name="url"
        label="Address"
        hint="Where your server takes POST. https only, with a public address."
        value={entered.url}
        error={errors['url']}
        maxlength={2048}
        plain
        required
      />
      <Field
        name="description"
        label="Description"
        hint="Your own words, so that you know it again."
        value={entered.description}
        error={errors['description']}
        maxlength={200}
      />
      <fieldset class="choices">
        <legend>Which events</legend>
        <p class="hint">Choose none to get all of them, those of later releases too.</p>
        {eventTypes.map((type) => (
          <Checkbox
            name="event_types"
            value={type}
            label={eventText[type]}
            hint={<span class="code">{type}</span>}
            checked={entered.event_types.includes(type)}
            key={type}
          />
        ))}
      </fieldset>
      <Checkbox
        name="only_when_offline"
        label="Only while the agent is offline"
        hint="An agent that holds a connection gets its events there."
        checked={entered.only_when_offline}
      />
    </>
  );
}
