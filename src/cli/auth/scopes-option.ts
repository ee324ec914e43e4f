import { InvalidArgumentError, Option } from 'commander';
import { offeredScopes, type Scope, scopes } from '../../domain/auth/scopes.ts';

const isScope = (value: string): value is Scope => scopes.some((scope) => scope === value);

function parseScopes(value: string): Scope[] {
  const names = value.split(/[\s,]+/).filter((name) => name !== '');
  if (names.length === 0 || !names.every(isScope)) {
    throw new InvalidArgumentError(`Must be some of: ${scopes.join(' ')}`);
  }
  return [...new Set(names.filter(isScope))];
}

/** Creates `--scopes "threads:read threads:write"`. The default is all scopes but `approvals:write`. */
export function scopesOption(): Option {
  return new Option('--scopes <list>', 'scopes, separated by spaces')
    .argParser(parseScopes)
    .default([...offeredScopes], 'all but approvals:write');
}
