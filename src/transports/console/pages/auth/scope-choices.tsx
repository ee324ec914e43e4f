import { type Scope, scopes as allScopes } from '../../../../domain/auth/scopes.ts';
import { scopeAbilities, abilitiesOf } from './scope-text.ts';
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
  error?: string | undefined;
}

/** Checkboxes for scopes, in the field `scopes`. */
export function ScopeChoices({ chosen, error }: ScopeChoicesProps) {
  return (
    <fieldset
      class={error === undefined ? 'choices' : 'choices invalid'}
      aria-describedby={error && 'scopes-error'}
    >
      <legend>Permissions</legend>
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
