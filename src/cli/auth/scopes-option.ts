import { InvalidArgumentError, Option } from 'commander';
import { offeredScopes, type Scope, scopes } from '../../domain/auth/scopes.ts';

const isScope = (value: string): value is Scope => scopes.some((scope) => scope === value);

function parseScopes(value: string): Scope[] {
  const given = value.split(/[\s,]+/).filter((word) => word !== '');
  const unknown = given.find((word) => !isScope(word));
  if (unknown !== undefined || given.length === 0) {
    throw new InvalidArgumentError(`Scopes are: ${scopes.join(' ')}`);
  }
  return [...new Set(given.filter(isScope))];
}

/** `--scopes "threads:read threads:write"`; when it is absent all but `approvals:write`, which has to be named. */
export function scopesOption(): Option {
  return new Option('--scopes <list>', 'scopes, separated by spaces')
    .argParser(parseScopes)
    .default([...offeredScopes], 'all but approvals:write');
}
