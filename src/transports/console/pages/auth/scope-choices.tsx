import {
  type Scope,
  type ScopePreset,
  scopes as allScopes,
} from '../../../../../packages/core/src/domain/auth/scopes.ts';
import { scopeAbilities, abilitiesOf, presetNames } from './scope-text.ts';
import { Checkbox } from '../../components/choices.tsx';

/** What scopes allow, in one line. */
export function Scopes({ scopes }: { scopes: readonly string[] }) {
  const allowed: readonly Scope[] = allScopes.filter((scope) => scopes.includes(scope));
  return (
    <>
      {abilitiesOf(allowed)
        .map(({ title }) => title)
        .join(' · ')}
    </>
  );
}

interface ScopeChoicesProps {
  /** Selected scopes. */
  chosen: readonly string[];
  /** The address of the page with the scopes of a preset selected. */
  presetAddress: (preset: ScopePreset) => string;
  error?: string | undefined;
}

/** Checkboxes for scopes, in the field `scopes`, with links that select a preset. */
export function ScopeChoices({ chosen, presetAddress, error }: ScopeChoicesProps) {
  return (
    <fieldset
      class={error === undefined ? 'choices' : 'choices invalid'}
      aria-describedby={error && 'scopes-error'}
    >
      <legend>Permissions</legend>
      <p class="hint">
        Select:
        {Object.entries(presetNames).map(([preset, name]) => (
          <span key={preset}>
            {' '}
            <a href={presetAddress(preset as ScopePreset)}>{name}</a>
          </span>
        ))}
      </p>
      {allScopes.map((scope) => (
        <Checkbox
          name="scopes"
          value={scope}
          label={scopeAbilities[scope].title}
          hint={
            <>
              {scopeAbilities[scope].text} <span class="code">{scope}</span>
            </>
          }
          checked={chosen.includes(scope)}
          key={scope}
        />
      ))}
      {error !== undefined && (
        <p class="error" id="scopes-error">
          {error}
        </p>
      )}
    </fieldset>
  );
}
