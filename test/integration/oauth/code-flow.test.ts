import { afterAll, beforeAll, expect, test } from 'vitest';
import { openApp, tokensOf } from './app.ts';
import { type Authority, startAuthority } from './authority.ts';

let authority: Authority;
beforeAll(async () => {
  authority = await startAuthority();
});
afterAll(async () => {
  expect(authority.faults).toEqual([]);
  await authority.close();
});

test('a person lets an app act as an agent: request, decision, code, tokens', async () => {
  const who = await authority.person();
  const app = await openApp(authority.url);
  const answer = await app.approved(who);
  expect(answer.get('iss')).toBe(authority.url);
  expect(answer.get('state')).toBe(app.state);
  const tokens = tokensOf(await app.exchange(answer.get('code') ?? ''));
  expect(tokens).toMatchObject({
    expires_in: 900,
    scope: 'contacts:read contacts:write threads:read threads:write',
  });
  const actor = await authority.tokens.verify(tokens.access_token, 'api');
  expect(actor).toMatchObject({
    agent_id: who.agent.id,
    client_id: app.client_id,
    resource: authority.resources.api,
  });
});
