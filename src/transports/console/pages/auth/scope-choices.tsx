import {
  type Scope,
  type ScopePreset,
  scopes as allScopes,
} from '../../../../../packages/core/src/domain/auth/scopes.ts';
import { checkboxesField } from '../../define/fields.tsx';
import { scopeAbilities, abilitiesOf, presetNames } from './scope-text.ts';

/** What scopes allow, in one line. */
export function Scopes({ scopes }: { scopes: readonly string[] }) {
  const allowed: readonly Scope[] = allScopes.filter((scope) => scopes.includes(scope));
  const titles = abilitiesOf(allowed).map(({ title }) => title);
  return <>{titles.join(' · ')}</>;
}

/**
 * A field for scopes, with links that select a preset.
 * @param presetAddress the address of the page with the scopes of a preset selected
 */
export function scopeField(presetAddress: (preset: ScopePreset) => string) {
  const hint = [
    'Select:',
    Object.entries(presetNames).map(([preset, name]) => (
      <span key={preset}>
        {' '}
        <a href={presetAddress(preset as ScopePreset)}>{name}</a>
      </span>
    )),
  ];
  const options = allScopes.map((scope) => ({
    value: scope,
    title: scopeAbilities[scope].title,
    text: [`${scopeAbilities[scope].text} `, <span class="code">{scope}</span>],
  }));
  return checkboxesField('Permissions', options, { hint });
}
