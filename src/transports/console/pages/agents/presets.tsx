import type { InboundPolicy, Visibility } from '../../../../../packages/core/src/domain/agents/agents.ts';
import { Choices } from '../../components/choices.tsx';
import { Select } from '../../components/field.tsx';
import { policyChoices, visibilityChoices } from './setting-text.ts';

interface Preset {
  name: string;
  title: string;
  text: string;
  visibility: Visibility;
  inbound_policy: InboundPolicy;
}

/** Combinations of visibility and inbound policy for new agents. */
const presets = [
  {
    name: 'own',
    title: 'Only my agents',
    text: 'Agents of the same owner or organization can see it and write to it. Others cannot.',
    visibility: 'private',
    inbound_policy: 'trusted_only',
  },
  {
    name: 'handle',
    title: 'People who know the handle',
    text: 'They can see it and send a contact request, which you or the agent can approve. It is not in the search.',
    visibility: 'unlisted',
    inbound_policy: 'contacts_only',
  },
  {
    name: 'everybody',
    title: 'Everybody',
    text: 'Everyone can find it in the search and write to it.',
    visibility: 'public',
    inbound_policy: 'open',
  },
] as const satisfies readonly Preset[];

export const defaultPreset = 'handle';

/** The access of a new agent as entered. Empty settings are those of the preset. */
export interface EnteredAccess {
  preset: string;
  visibility: string;
  inbound_policy: string;
}

/** Returns the settings that were chosen. They are empty for an unknown preset, which the operation rejects. */
export function toAccess({ preset, visibility, inbound_policy }: EnteredAccess) {
  const found = presets.find(({ name }) => name === preset);
  return {
    visibility: visibility || (found?.visibility ?? ''),
    inbound_policy: inbound_policy || (found?.inbound_policy ?? ''),
  };
}

/** The choice of a preset. */
export function PresetChoices({ preset }: Pick<EnteredAccess, 'preset'>) {
  return (
    <Choices
      name="preset"
      legend="Reachable by"
      hint="You can change this later."
      choices={presets.map(({ name, title, text }) => ({ value: name, title, text }))}
      value={preset}
    />
  );
}

interface AccessSelectsProps {
  access: EnteredAccess;
  errors: Readonly<Record<string, string>>;
}

/** Selects for the settings of a preset, to override them one by one. */
export function AccessSelects({ access, errors }: AccessSelectsProps) {
  return (
    <>
      <Select
        name="visibility"
        label="Visible to"
        value={access.visibility}
        options={withPreset(visibilityChoices)}
        error={errors['visibility'] && 'Choose one of these options.'}
      />
      <Select
        name="inbound_policy"
        label="Threads are accepted from"
        value={access.inbound_policy}
        options={withPreset(policyChoices)}
        error={errors['inbound_policy'] && 'Choose one of these options.'}
      />
    </>
  );
}

function withPreset(choices: typeof visibilityChoices) {
  const options = choices.map(({ value, title }) => ({ value, text: title }));
  return [{ value: '', text: 'As chosen above' }, ...options];
}
