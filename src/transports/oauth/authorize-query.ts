import type { ParsedUrlQuery } from 'node:querystring';
import { scopes } from '../../domain/auth/scopes.ts';
import type { ResourceIndicators } from './resource-indicators.ts';

/** What means something here. Anything else is ignored (RFC 6749, section 3.1), what OpenID Connect adds among it. */
const supportedParameters = [
  'client_id',
  'redirect_uri',
  'response_type',
  'response_mode',
  'state',
  'code_challenge',
  'code_challenge_method',
  'prompt',
  // Refused by the provider: to ignore what they carry would be to answer another request.
  'request',
  'request_uri',
] as const;

/** What a client gets that names no scope: the four of interface.md. */
const defaultScope = scopes.slice(0, 4).join(' ');

/**
 * Puts the query of an authorization request in order before the provider reads it: scopes by default, resources by one name
 * each, with those to which a refresh may turn later. What is wrong stays as it is, for the provider to refuse.
 */
export function normalizeQuery(
  query: ParsedUrlQuery,
  targets: Pick<ResourceIndicators, 'granted'>,
): ParsedUrlQuery {
  const kept = supportedParameters.flatMap((name) =>
    query[name] === undefined ? [] : [[name, query[name]]],
  );
  const asked = [query['resource'] ?? query['audience'] ?? []].flat().filter((value) => value !== '');
  const ordered: ParsedUrlQuery = {
    ...Object.fromEntries(kept),
    scope: normalizeScope(query['scope']),
    resource: targets.granted(asked) ?? asked,
  };
  normalizePrompt(ordered);
  normalizeResponseMode(ordered);
  return ordered;
}

/** Unknown words beside known ones are left out: the provider would ask again and again for what nobody can grant. */
function normalizeScope(asked: string | string[] | undefined): string | string[] {
  if (asked === undefined || asked === '') return defaultScope;
  if (typeof asked !== 'string') return asked;
  const words = new Set(asked.split(' '));
  return scopes.filter((scope) => words.has(scope)).join(' ') || asked;
}

/** The person is always asked, whatever the client wants shown; only that nobody may be asked has a meaning of its own. */
function normalizePrompt(query: ParsedUrlQuery): void {
  if (typeof query['prompt'] === 'string' && !query['prompt'].split(' ').includes('none')) {
    delete query['prompt'];
  }
}

/** The provider has other modes, whose answers are pages of its own; here they are as unknown as any other word. */
function normalizeResponseMode(query: ParsedUrlQuery): void {
  if (typeof query['response_mode'] === 'string' && query['response_mode'] !== 'query') {
    query['response_mode'] = 'unsupported';
  }
}
