import { expect, test, vi } from 'vitest';
import { findForm, type PageResponse, type FormBrowser } from '../../clients/form-browser.ts';
import { runCliJson } from '../../clients/cli.ts';
import { createAgentFor, newUsername, useConsole } from '../console/setup.ts';
import { registerApp, readTokens } from '../../clients/oauth/app.ts';

const setup = useConsole();
const [first, second, third] = ['seven odd horses', 'eight even mules', 'nine plain goats'] as const;

const hello = (page: PageResponse, username: string) => page.visibleText.includes(`Hello, ${username}`);

/** Connects an app to an agent. */
async function connectApp(browser: FormBrowser, agent_id: string) {
  const app = await registerApp(setup.service.url);
  const page = await browser.go(app.address());
  const answer = await browser.send(findForm(page, new URL(page.url).pathname), {
    fields: { agent_id },
    button: 'approve',
  });
  const code = new URL(answer.headers.get('Location') ?? '').searchParams.get('code') ?? '';
  const tokens = readTokens(await app.exchange(code));
  return {
    tokens,
    status: async () => (await setup.service.get({ token: tokens.access_token }, '/agents/me')).status,
    refresh: async () => (await app.refresh(tokens.refresh_token)).status,
  };
}

test('from sign-up to sign-out: an app, another browser, another password, sign-out everywhere', async () => {
  const { service } = setup;
  const username = newUsername();
  const [here, there] = [setup.browser(), setup.browser()];
  expect(hello(await here.signUp(username, first), username)).toBe(true);
  expect(hello(await there.signIn(username.toUpperCase(), first), username)).toBe(true);
  const { id } = await createAgentFor(service, username, 'own');
  const app = await connectApp(here, id);
  expect(await app.status()).toBe(200);

  // A new password: this browser stays signed in, the other one is signed out, and the app stays.
  const fields = { current: first, next: second };
  const changed = await here.fill('/console/account', { fields }, '/console/account/password');
  expect(changed.visibleText).toContain('Password changed');
  expect(hello(await here.go('/console'), username)).toBe(true);
  expect((await there.go('/console')).url).toContain('/sign-in');
  expect((await there.signIn(username, first)).status).toBe(400);
  expect(hello(await there.signIn(username, second), username)).toBe(true);
  expect(await app.status()).toBe(200);

  // Signed out everywhere, this browser included; the app stays connected.
  const out = await here.fill('/console/sessions', {}, '/console/sessions/end-all');
  expect(out.visibleText).toContain('You are signed out everywhere.');
  for (const browser of [here, there]) expect((await browser.go('/console')).url).toContain('/sign-in');
  expect(await app.status()).toBe(200);

  // And with all apps disconnected.
  await here.signIn(username, second);
  const gone = await here.fill('/console/sessions', { fields: { apps: 'on' } }, '/console/sessions/end-all');
  expect(gone.visibleText).toContain('all apps are disconnected');
  await vi.waitFor(async () => expect(await app.status()).toBe(401), { timeout: 10_000 });
  expect(await app.refresh()).toBe(400);
});

test('an operator resets the password of a lost account, and revokes the access of others', async () => {
  const { service } = setup;
  const { DATABASE_URL, SECRET_KEY, PUBLIC_URL } = service.core.config;
  const username = newUsername();
  const thief = setup.browser();
  await thief.signUp(username, first);
  const { id } = await createAgentFor(service, username, 'own');
  const app = await connectApp(thief, id);
  const args = ['account', 'password', username, '--password-stdin', '--apps'];
  expect(await runCliJson({ DATABASE_URL, SECRET_KEY, PUBLIC_URL }, args, `${third}\n`)).toEqual({
    username,
    sessions_ended: 1,
    apps_ended: 1,
  });
  expect((await thief.go('/console')).url).toContain('/sign-in');
  await vi.waitFor(async () => expect(await app.status()).toBe(401), { timeout: 10_000 });
  expect(await app.refresh()).toBe(400);
  expect(hello(await setup.browser().signIn(username, third), username)).toBe(true);
});

test("leaving an organization ends the access of the person's apps to its agents", async () => {
  const { service } = setup;
  const env = { DATABASE_URL: service.core.config.DATABASE_URL, SECRET_KEY: service.core.config.SECRET_KEY };
  const { username, browser } = await setup.signUpPerson();
  const slug = newUsername('org');
  await runCliJson(env, ['org', 'create', slug]);
  await runCliJson(env, ['org', 'invite', slug, username, '--role', 'admin']);
  const invitation = findForm(await browser.go('/console'), `/console/organizations/${slug}/invitation`);
  await browser.send(invitation, { button: 'accept' });
  const shared = await service.register({ handle: `${slug}.shared` });
  const [own, there] = [await createAgentFor(service, username, 'own'), shared];
  const apps = [await connectApp(browser, own.id), await connectApp(browser, there.id)] as const;
  expect(await Promise.all(apps.map((app) => app.status()))).toEqual([200, 200]);
  await runCliJson(env, ['org', 'role', slug, username, 'member']);
  await vi.waitFor(async () => expect(await apps[1].status()).toBe(401), { timeout: 10_000 });
  expect(await apps[1].refresh()).toBe(400);
  expect(await apps[0].status()).toBe(200);
});
