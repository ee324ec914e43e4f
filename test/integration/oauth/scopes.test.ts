import { describe, expect, test } from 'vitest';
import { openFormBrowser } from '../../clients/form-browser.ts';
import { registerApp, readShownRequest, readTokens } from '../../clients/oauth/app.ts';
import { useAuthorizationServer } from './authorization-server.ts';

const authority = useAuthorizationServer();

const four = 'contacts:read contacts:write threads:read threads:write';

describe('scope', () => {
  test('without a value has the four default scopes', async () => {
    const app = await registerApp(authority.url);
    const who = await authority.person();
    expect((await app.connect(who, { scope: null })).scope).toBe(four);
    expect((await app.connect(who, { scope: '' })).scope).toBe(four);
  });

  test.each([
    ['openid email profile', four],
    ['openid', four],
    ['mcp:tools', four],
    ['claudeai', four],
    ['threads:*', four],
    ['threads:read offline_access', 'threads:read'],
    ['threads:read whatever', 'threads:read'],
    ['agents:read  "é', 'agents:read'],
  ])('with unknown values is granted without them: %s', async (scope, granted) => {
    const who = await authority.person();
    const app = await registerApp(authority.url);
    const browser = openFormBrowser(authority.url);
    const { request } = await readShownRequest(browser, app.address({ scope }));
    expect(request).toMatchObject({ scopes: granted.split(' ') });
    const tokens = await app.connect(who, { scope });
    expect(tokens.scope).toBe(granted);
    // Some clients send the same text again with each refresh.
    const next = readTokens(await app.refresh(tokens.refresh_token, { scope }));
    expect(next.scope).toBe(granted);
  });
});
