import type { ParsedUrlQuery } from 'node:querystring';
import { basicScopes, knownScopes } from '../../../packages/core/src/domain/auth/scopes.ts';
import type { ResourceIndicators } from './resource-indicators.ts';

/** Supported parameters. Others are ignored (RFC 6749, section 3.1), including those of OpenID Connect. */
const supportedParameters = [
  'client_id',
  'redirect_uri',
  'response_type',
  'response_mode',
  'state',
  'code_challenge',
  'code_challenge_method',
  'prompt',
  // Kept so that the provider rejects them. Ignoring them would answer a different request.
  'request',
  'request_uri',
] as const;

/** The default scopes of a request without `scope`. */
const defaultScope = basicScopes.join(' ');

/**
 * Normalizes the query of an authorization request before the provider reads it: sets default scopes, canonical resources and the
 * resources that later refreshes may use. Invalid values stay unchanged, so that the provider rejects them.
 */
export function normalizeQuery(
  query: ParsedUrlQuery,
  targets: Pick<ResourceIndicators, 'grantedResources'>,
): ParsedUrlQuery {
  const entries = supportedParameters.flatMap((name) =>
    query[name] === undefined ? [] : [[name, query[name]]],
  );
  const requested = [query['resource'] ?? query['audience'] ?? []].flat().filter((value) => value !== '');
  const normalized: ParsedUrlQuery = {
    ...Object.fromEntries(entries),
    scope: normalizeScope(query['scope']),
    resource: targets.grantedResources(requested) ?? requested,
  };
  normalizePrompt(normalized);
  normalizeResponseMode(normalized);
  return normalized;
}

/** Orders the scopes and removes unknown ones, such as `openid` and `offline_access`. */
function normalizeScope(requested: string | string[] = ''): string | string[] {
  if (typeof requested !== 'string') return requested;
  return knownScopes(requested).join(' ') || defaultScope;
}

/** Removes `prompt` unless it is `none`, because the person is always asked. */
function normalizePrompt(query: ParsedUrlQuery): void {
  if (typeof query['prompt'] === 'string' && !query['prompt'].split(' ').includes('none')) {
    delete query['prompt'];
  }
}

/** Makes all response modes but `query` unsupported. The provider answers others with its own pages. */
function normalizeResponseMode(query: ParsedUrlQuery): void {
  if (typeof query['response_mode'] === 'string' && query['response_mode'] !== 'query') {
    query['response_mode'] = 'unsupported';
  }
}
