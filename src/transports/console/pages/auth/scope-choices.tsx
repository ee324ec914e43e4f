import { type Scope, scopes as known } from '../../../../domain/auth/scopes.ts';
import { scopeAbilities, abilitiesOf } from './scope-text.ts';
import { Checkbox } from '../../components/choices.tsx';

/** What scopes allow, in a line. */
export function Scopes({ scopes }: { scopes: readonly string[] }) {
  const allowed: readonly Scope[] = known.filter((scope) => scopes.includes(scope));
  return (
    <>
      {abilitiesOf(allowed)
        .map(({ title }) => title)
        .join(' · ')}
    </>
  );
}

interface ScopeChoicesProps {
  /** Those that are chosen. */
  chosen: readonly string[];
  error?: string | undefined;
}

/** Scopes to choose from, in the field `scopes`. */
export function ScopeChoices({ chosen, error }: ScopeChoicesProps) {
  return (
    <fieldset
      class={error === undefined ? 'choices' : 'choices wrong'}
      aria-describedby={error && 'scopes-error'}
    >
      <legend>What it may do</legend>
      {known.map((scope) => (
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
