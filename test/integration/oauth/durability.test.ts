import { expect, test } from 'vitest';
import { z } from 'zod';
import { openFormBrowser } from '../../clients/form-browser.ts';
import {
  createApp,
  openConsentPage,
  submitConsent,
  registerApp,
  readRedirectParams,
  readTokens,
} from '../../clients/oauth/app.ts';
import { requestToken, startAuthorizationServer, useAuthorizationServer } from './authorization-server.ts';

const authority = useAuthorizationServer();

test('requests, codes and refresh tokens remain valid after a restart of the process', async () => {
  const who = await authority.person();
  const app = await registerApp(authority.url);
  const [begun, decided] = [openFormBrowser(authority.url), openFormBrowser(authority.url)];
  const page = await openConsentPage(begun, app.address(), who);
  const answer = await app.approved(who, {}, decided);
  const { refresh_token } = await app.connect(who);

  const next = await startAuthorizationServer({ restartOf: authority });
  const there = createApp(next.url, app.client_id, app.redirect_uri, app.pair);
  const elsewhere = openFormBrowser(next.url);
  for (const [name, cookie] of begun.cookies) elsewhere.cookies.set(name, cookie);
  const approved = await submitConsent(elsewhere, page, 'approve', who.agent.id, authority.url);
  expect(readRedirectParams(approved).get('code')).not.toBeNull();
  expect((await there.exchange(answer.get('code') ?? '')).status).toBe(200);
  expect((await there.refresh(refresh_token)).status).toBe(200);
  await next.close();
});

test('the database contains no code, token, secret or request id in plain text', async () => {
  const who = await authority.person();
  const app = await registerApp(authority.url);
  const browser = openFormBrowser(authority.url);
  const page = await openConsentPage(browser, app.address(), who);
  const answer = await app.approved(who);
  const code = answer.get('code') ?? '';
  const first = readTokens(await app.exchange(code));
  const second = readTokens(await app.refresh(first.refresh_token));
  const unused = (await app.approved(who)).get('code') ?? '';
  const secrets = [code, unused, new URL(page.url).pathname.split('/').pop() ?? '', app.verifier];
  for (const tokens of [first, second]) secrets.push(tokens.access_token, tokens.refresh_token);
  const credential = await authority.credential(who.agent.canonical_handle);
  const operator = await authority.operatorToken(who.agent.canonical_handle);
  secrets.push(credential.client_secret, operator.access_token, await requestToken(authority, credential));
  expect(new Set(secrets).size).toBe(11);

  const tables = await authority.sql<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = 'public'`,
  );
  for (const { name } of tables) {
    const rows = await authority.sql<{ text: string }>(`select t::text as text from "${name}" t`);
    const text = z.string().parse(rows.map((row) => row.text).join('\n'));
    for (const secret of secrets) {
      expect(secret.length).toBeGreaterThan(20);
      expect(text).not.toContain(secret);
      expect(text).not.toContain(Buffer.from(secret).toString('hex'));
    }
  }
});
