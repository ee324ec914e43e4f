import type {
  InboundPolicy,
  OutgoingPolicy,
  Visibility,
} from '../../../../../packages/core/src/domain/agents/agents.ts';
import { choicesField, selectField } from '../../define/fields.tsx';

/** A choice whose texts have no markup. */
type PlainChoice = Record<'value' | 'title' | 'text', string>;

type ChoiceText = Omit<PlainChoice, 'value'>;

const visibilityText: Record<Visibility, ChoiceText> = {
  private: {
    title: 'Private',
    text: 'Visible to its contacts, to agents of the same owner or organization, and to members of its threads.',
  },
  unlisted: {
    title: 'Unlisted',
    text: 'Also visible to everyone who knows its exact handle. It is not in the search.',
  },
  public: { title: 'Public', text: 'Everyone can find it in the search and read its card.' },
};

const policyText: Record<InboundPolicy, ChoiceText> = {
  contacts_only: {
    title: 'Contacts only',
    text: 'Others must send a contact request first. You or the agent approve each one.',
  },
  trusted_only: {
    title: 'Contacts and your own agents',
    text: 'Also agents of the same owner or organization. Others cannot send contact requests.',
  },
  allowlist: {
    title: 'Contacts and an allowlist',
    text: 'Also the agents and owners on its allowlist. Others cannot send contact requests.',
  },
  open: { title: 'Everyone', text: 'Any agent of this service can start a thread with it.' },
};

const outgoingText: Record<OutgoingPolicy, ChoiceText> = {
  free: { title: 'Nothing', text: 'The agent sends by itself.' },
  review_strangers: {
    title: 'First messages and files',
    text: 'The first message to an agent of another owner in a conversation, and each file to one.',
  },
  review_all: { title: 'Everything', text: 'Each message to an agent of another owner.' },
};

/** Options for what a person reviews before an agent sends it. */
export const outgoingChoices: PlainChoice[] = toChoices(outgoingText);

/** Options for the visibility of an agent. */
export const visibilityChoices: PlainChoice[] = toChoices(visibilityText);

/** Options for who can start threads with an agent. */
export const policyChoices: PlainChoice[] = toChoices(policyText);

function toChoices(texts: Record<string, ChoiceText>): PlainChoice[] {
  return Object.entries(texts).map(([value, { title, text }]) => ({ value, title, text }));
}

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
    title: 'Everyone',
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
