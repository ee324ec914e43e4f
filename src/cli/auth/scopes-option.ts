import { InvalidArgumentError, Option } from 'commander';
import {
  isScopePreset,
  type Scope,
  scopePresets,
  scopes,
} from '../../../packages/core/src/domain/auth/scopes.ts';

const isScope = (value: string): value is Scope => scopes.some((scope) => scope === value);

function parseScopes(value: string): Scope[] {
  const names = value.split(/[\s,]+/).filter((name) => name !== '');
  const named = names.flatMap((name) => (isScopePreset(name) ? scopePresets[name] : name));
  const chosen = scopes.filter((scope) => named.includes(scope));
  if (chosen.length === 0 || !named.every(isScope)) {
    const presets = Object.keys(scopePresets).join(', ');
    throw new InvalidArgumentError(`Must be presets (${presets}) or scopes: ${scopes.join(' ')}`);
  }
  return chosen;
}

/** Creates `--scopes "agent agents:write"`. The default is the preset `agent`, as in the console. */
export function scopesOption(): Option {
  return new Option(
    '--scopes <list>',
    'scopes and presets (read-only, agent, everything), separated by spaces',
  )
    .argParser(parseScopes)
    .default([...scopePresets.agent], 'agent');
}
