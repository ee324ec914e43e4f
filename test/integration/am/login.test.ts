import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  AuthenticationError,
  createClient,
  readSignIn,
  removeSignIn,
  storedSignIn,
  writeSignIn,
} from '../../../packages/client/src/node/main.ts';
import { createCredential } from '../../../src/services/auth/credentials.ts';
import { runAm, startAm } from '../../clients/am.ts';
import { openFormBrowser } from '../../clients/form-browser.ts';
import { registerAgentAsOperator } from '../../../src/services/agents/operator-registration.ts';
import { startServiceOnFixedPort } from '../../support/service-on-fixed-port.ts';
import { createFolder, stopAfterTest, use } from '../../support/use.ts';
import { listen } from '../../support/servers/listen.ts';

const service = use(startServiceOnFixedPort);

const register = (handle: string, create_owner = false) =>
  service.write((work) => registerAgentAsOperator(work, { handle, create_owner }));

test('a person signs in with a browser, and signs out', async () => {
  const env = { XDG_CONFIG_HOME: await createFolder() };
  const person = openFormBrowser(service.url);
  const username = `am-${process.pid}`;
  await person.signUp(username, 'a quiet word in passing');
  await register(`${username}.helper`);
  let shown = '';
  const login = startAm(['login', '--url', service.url], {
    env,
    async openPage(url) {
      const consent = await person.go(url);
      shown = consent.visibleText;
      const back = (await person.approve(consent)).headers.get('Location') ?? '';
      expect((await fetch(back)).status).toBe(200);
    },
  });
  expect(await login.ended).toMatchObject({
    code: 0,
    out: `signed in at ${service.url} as ${username}.helper\n`,
    err: expect.stringContaining('Sign in here: '),
  });
  expect(shown).toMatch(/Command line of this service\s*am\s*Known app/);
  expect(shown).toContain('Approve only if you have just started to connect a program');
  expect(shown).not.toContain('Not verified');
  const file = join(env.XDG_CONFIG_HOME, 'ams/profiles/default.json');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const { refresh_token, client_id } = JSON.parse(await readFile(file, 'utf8')) as Record<string, string>;
  expect(client_id).toBe('am');
  expect((await runAm(['whoami', '--json'], { env })).out).toContain(`${username}.helper`);
  expect((await person.go('/console/connections')).visibleText).toMatch(/am\s*Part of this service/);

  expect((await runAm(['logout', '--json'], { env })).out).toContain('"revoked":true');
  expect((await runAm(['whoami'], { env })).code).toBe(3);
  const form = {
    grant_type: 'refresh_token',
    client_id: client_id ?? '',
    refresh_token: refresh_token ?? '',
  };
  const used = await fetch(`${service.url}/token`, { method: 'POST', body: new URLSearchParams(form) });
  expect(used.status).toBe(400);
  expect((await runAm(['logout'], { env })).out).toBe('the profile default was not signed in\n');
});

test('programs that share a sign-in renew it one after another, and a revoked sign-in ends', async () => {
  const env = { XDG_CONFIG_HOME: await createFolder() };
  const person = openFormBrowser(service.url);
  const username = `am-shared-${process.pid}`;
  await person.signUp(username, 'a quiet word in passing');
  await register(`${username}.helper`);
  const login = startAm(['login', '--url', service.url], {
    env,
    openPage: async (url) =>
      void (await fetch((await person.approve(await person.go(url))).headers.get('Location') ?? '')),
  });
  expect((await login.ended).code).toBe(0);
  const options = { folder: join(env.XDG_CONFIG_HOME, 'ams/profiles') };
  const first = await readSignIn(options);
  if (!first) throw new Error('there is no sign-in');
  await writeSignIn({ ...first, expires_at: 0 }, options);
  const programs = [1, 2, 3, 4].map(() => storedSignIn(options));
  const tokens = new Set(await Promise.all(programs.map(async (getToken) => getToken())));
  // One of them has renewed it. A refresh token can be used again for a short time only.
  expect(tokens.size).toBe(1);
  const second = await readSignIn(options);
  expect(second?.refresh_token).not.toBe(first.refresh_token);
  expect(second?.expires_at).toBeGreaterThan(Date.now());
  // A token that the service refuses is renewed, too.
  const [used] = tokens;
  expect(await programs[0]?.(used)).not.toBe(used);
  const client = createClient({ url: service.url, auth: storedSignIn(options) });
  expect(await client.agents.getMe()).toMatchObject({ canonical_handle: `${username}.helper` });

  await runAm(['logout'], { env });
  await writeSignIn({ ...first, expires_at: 0 }, options);
  const ended = createClient({ url: service.url, auth: storedSignIn(options) });
  await expect(ended.agents.getMe()).rejects.toThrow(AuthenticationError);
});

test('a sign-out while another program renews the sign-in leaves nothing behind', async () => {
  const tokens = createServer();
  const { url } = stopAfterTest(await listen(tokens));
  const options = { folder: await createFolder() };
  await writeSignIn({ url, client_id: 'one', refresh_token: 'first', expires_at: 0 }, options);
  const requested = once(tokens, 'request') as Promise<[IncomingMessage, ServerResponse]>;
  const renewal = storedSignIn(options)();
  const [, response] = await requested;
  const removal = removeSignIn(options);
  response.end(JSON.stringify({ access_token: 'next', expires_in: 900, refresh_token: 'second' }));
  expect(await renewal).toBe('next');
  expect(await removal).toMatchObject({ refresh_token: 'second' });
  expect(await readSignIn(options)).toBeUndefined();
});

test('a declined sign-in and an interrupted one store nothing', async () => {
  const env = { XDG_CONFIG_HOME: await createFolder() };
  const declined = await runAm(['login', '--url', service.url], {
    env,
    async openPage(url) {
      const page = new URL(url).searchParams;
      const back = new URLSearchParams({
        error: 'access_denied',
        state: page.get('state') ?? '',
        iss: service.url,
      });
      await fetch(`${page.get('redirect_uri')}?${back.toString()}`);
    },
  });
  expect(declined).toMatchObject({ code: 3, err: expect.stringContaining('access was denied') });
  const waiting = startAm(['login', '--url', service.url, '--no-browser'], { env });
  await expect.poll(waiting.err).toContain('Sign in here: ');
  expect((await waiting.stop()).code).not.toBe(0);
  expect((await runAm(['whoami'], { env })).code).toBe(3);
});

test('a program signs in with a client credential, in a profile of its own', async () => {
  const env = { XDG_CONFIG_HOME: await createFolder() };
  const handle = `am-program-${process.pid}.agent`;
  await register(handle, true);
  const { client_id, client_secret } = await service.write((work) =>
    createCredential(work, { handle, scopes: ['threads:read'], name: '' }),
  );
  const credential = { AMS_CLIENT_ID: client_id, AMS_CLIENT_SECRET: client_secret };
  const login = ['login', '--profile', 'work', '--url', service.url];
  expect(await runAm(login, { env: { ...env, ...credential } })).toMatchObject({ code: 0 });
  expect((await runAm(['whoami', '--profile', 'work'], { env })).out).toContain(handle);
  const chosen = { ...env, AMS_PROFILE: 'work' };
  expect((await runAm(['whoami'], { env: chosen })).out).toContain(handle);
  expect((await runAm(['whoami'], { env })).code).toBe(3);
  const wrong = { ...env, ...credential, AMS_CLIENT_SECRET: 'wrong' };
  expect((await runAm(login, { env: wrong })).code).toBe(3);
});
