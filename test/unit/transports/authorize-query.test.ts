import { expect, test } from 'vitest';
import { normalizeQuery } from '../../../src/transports/oauth/authorize-query.ts';
import { createResourceIndicators } from '../../../src/transports/oauth/resource-indicators.ts';

const [service, api] = ['https://ams.test', 'https://ams.test/v1'];
const [mcp, ws] = ['https://ams.test/mcp', 'wss://ams.test/ws'];
const ordered = (query: Record<string, string | string[]>) =>
  normalizeQuery(query, createResourceIndicators({ service, api, mcp, ws }));

test('the requested resource is first, or the whole service, followed by the interfaces', () => {
  expect(ordered({})['resource']).toEqual([service, mcp, api, ws]);
  expect(ordered({ resource: `${service}/` })['resource']).toEqual([service, mcp, api, ws]);
  expect(ordered({ resource: '' })['resource']).toEqual([service, mcp, api, ws]);
  expect(ordered({ resource: mcp })['resource']).toEqual([mcp, api, ws]);
  expect(ordered({ resource: `${ws}/` })['resource']).toEqual([ws, mcp, api]);
  expect(ordered({ audience: mcp })['resource']).toEqual([mcp, api, ws]);
  expect(ordered({ resource: api, audience: mcp })['resource']).toEqual([api, mcp, ws]);
  expect(ordered({ resource: [ws, `${ws}/`, mcp] })['resource']).toEqual([ws, mcp, api]);
  expect(ordered({ resource: ['', mcp] })['resource']).toEqual([mcp, api, ws]);
});

test('unknown values are unchanged, so that they are refused', () => {
  for (const resource of [['https://elsewhere.test'], [mcp, 'x'], [`${api}?x`], [`${mcp}//`]]) {
    expect(ordered({ resource })['resource']).toEqual(resource);
  }
  expect(ordered({ scope: ['threads:read', 'threads:write'] })['scope']).toEqual([
    'threads:read',
    'threads:write',
  ]);
});

test('known scopes are kept, each once; without scopes the four defaults apply', () => {
  expect(ordered({ scope: 'agents:read  threads:read offline_access threads:read' })['scope']).toBe(
    'threads:read agents:read',
  );
  for (const query of [{}, { scope: '' }, { scope: 'offline_access' }]) {
    expect(ordered(query)['scope']).toBe('contacts:read contacts:write threads:read threads:write');
  }
});

test('unsupported parameters are removed', () => {
  const meaningful = {
    client_id: 'c',
    redirect_uri: 'r',
    response_type: 'code',
    state: 's',
    code_challenge: 'x',
    code_challenge_method: 'S256',
  };
  const {
    scope: _scope,
    resource: _resource,
    ...rest
  } = ordered({
    ...meaningful,
    nonce: 'n',
    max_age: '0',
    audience: mcp,
    login_hint: 'x',
  });
  expect(rest).toEqual(meaningful);
  expect(ordered({ state: ['a', 'b'] })['state']).toEqual(['a', 'b']);
});

test('only the prompt "none" and the response mode "query" are kept', () => {
  expect(ordered({ prompt: 'login consent' })).not.toHaveProperty('prompt');
  expect(ordered({ prompt: 'none' })['prompt']).toBe('none');
  expect(ordered({ response_mode: 'query' })['response_mode']).toBe('query');
  for (const response_mode of ['form_post', 'fragment', 'web_message', 'jwt', 'x']) {
    expect(ordered({ response_mode })['response_mode']).toBe('unsupported');
  }
});
