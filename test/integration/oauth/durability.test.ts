import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { openBrowser } from '../../support/browser-forms.ts';
import { appOf, consentPage, decide, openApp, told, tokensOf } from './app.ts';
import { type Authority, startAuthority } from './authority.ts';

let authority: Authority;
beforeAll(async () => {
  authority = await startAuthority();
});
afterAll(() => authority.close());

test('what began goes on after the process was restarted: request, code and refresh token', async () => {
  const who = await authority.person();
  const app = await openApp(authority.url);
  const [begun, decided] = [openBrowser(authority.url), openBrowser(authority.url)];
  const page = await consentPage(begun, app.address(), who);
  const answer = await app.approved(who, {}, decided);
  const { refresh_token } = await app.connect(who);

  const next = await startAuthority({ after: authority });
  const there = appOf(next.url, app.client_id, app.redirect_uri, app.pair);
  const elsewhere = openBrowser(next.url);
  for (const [name, cookie] of begun.cookies) elsewhere.cookies.set(name, cookie);
  const approved = await decide(elsewhere, page, 'approve', who.agent.id, authority.url);
  expect(told(approved).get('code')).not.toBeNull();
  expect((await there.exchange(answer.get('code') ?? '')).status).toBe(200);
  expect((await there.refresh(refresh_token)).status).toBe(200);
  await next.close();
});

test('the database holds no code, token, secret or id of a request', async () => {
  const who = await authority.person();
  const app = await openApp(authority.url);
  const browser = openBrowser(authority.url);
  const page = await consentPage(browser, app.address(), who);
  const answer = await app.approved(who);
  const code = answer.get('code') ?? '';
  const first = tokensOf(await app.exchange(code));
  const second = tokensOf(await app.refresh(first.refresh_token));
  const unused = (await app.approved(who)).get('code') ?? '';
  const secrets = [code, unused, new URL(page.url).pathname.split('/').pop() ?? '', app.verifier];
  for (const tokens of [first, second]) secrets.push(tokens.access_token, tokens.refresh_token);
  expect(new Set(secrets).size).toBe(8);

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
