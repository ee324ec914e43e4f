import { choicesField, selectField } from '../../define/fields.tsx';
import { policyChoices, visibilityChoices } from './setting-text.ts';

/** Combinations of visibility and inbound policy for new agents. */
const presets = [
  {
    value: 'own',
    title: 'Only my agents',
    text: 'Agents of the same owner or organization can see it and write to it. Others cannot.',
    visibility: 'private',
    inbound_policy: 'trusted_only',
  },
  {
    value: 'handle',
    title: 'People who know the handle',
    text: 'They can see it and send a contact request, which you or the agent can approve. It is not in the search.',
    visibility: 'unlisted',
    inbound_policy: 'contacts_only',
  },
  {
    value: 'everybody',
    title: 'Everybody',
    text: 'Everyone can find it in the search and write to it.',
    visibility: 'public',
    inbound_policy: 'open',
  },
] as const;

export const defaultPreset = 'handle';

const preset = choicesField(
  'Reachable by',
  presets.map(({ value, title, text }) => ({ value, title, text })),
  { hint: 'You can change this later.' },
);

/** The choice of a preset. A form without it has the default. */
export const presetFields = {
  preset: { ...preset, read: (form: URLSearchParams) => form.get('preset') ?? defaultPreset },
};

/** The settings of a preset, to override them one by one. */
export const accessFields = {
  visibility: overriding('Visible to', visibilityChoices),
  inbound_policy: overriding('Threads are accepted from', policyChoices),
};

function overriding(label: string, options: typeof visibilityChoices) {
  const all = [
    { value: '', text: 'As chosen above' },
    ...options.map(({ value, title }) => ({ value, text: title })),
  ];
  return selectField(label, all, { error: 'Choose one of these options.' });
}

/** Returns the settings that were chosen. They are empty for an unknown preset, which the operation rejects. */
export function toAccess(entered: { preset: string; visibility: string; inbound_policy: string }) {
  const found = presets.find(({ value }) => value === entered.preset);
  return {
    visibility: entered.visibility || (found?.visibility ?? ''),
    inbound_policy: entered.inbound_policy || (found?.inbound_policy ?? ''),
  };
}
