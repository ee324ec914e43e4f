import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  AuthenticationError,
  createClient,
  readSignIn,
  storedSignIn,
  writeSignIn,
} from '../../../packages/client/src/node/main.ts';
import { createCredential } from '../../../src/services/auth/credentials.ts';
import { type TestAgent, useSharedService } from '../../support/service.ts';
import { createFolder } from '../../support/use.ts';

const service = useSharedService();

/** Credentials of an agent. */
function credentialOf({ handle }: TestAgent) {
  return service.write((work) =>
    createCredential(work, { handle, scopes: ['threads:read', 'threads:write'], name: '' }),
  );
}

/** A `fetch` that counts requests for tokens, and can make the service forget a token. */
function watchTokens() {
  const watch = { requests: 0, refuseNext: false };
  const fetchFn = async (url: string, init: RequestInit) => {
    if (url.endsWith('/token')) watch.requests += 1;
    else if (watch.refuseNext) {
      watch.refuseNext = false;
      const headers = { ...(init.headers as Record<string, string>), Authorization: 'Bearer ended' };
      return fetch(url, { ...init, headers });
    }
    return fetch(url, init);
  };
  return { watch, fetch: fetchFn };
}

test('credentials fetch one token for all calls, and another one after a 401', async () => {
  const agent = await service.agent();
  const { client_id: clientId, client_secret: clientSecret } = await credentialOf(agent);
  const { watch, fetch: watched } = watchTokens();
  const client = createClient({ url: service.url, auth: { clientId, clientSecret }, fetch: watched });
  const answers = await Promise.all([client.agents.getMe(), client.agents.getMe(), client.agents.getMe()]);
  expect(answers.map(({ id }) => id)).toEqual([agent.id, agent.id, agent.id]);
  expect(watch.requests).toBe(1);
  watch.refuseNext = true;
  expect(await client.agents.getMe()).toMatchObject({ id: agent.id });
  expect(watch.requests).toBe(2);
});

test('credentials that the service refuses are an error, without a retry', async () => {
  const { watch, fetch: watched } = watchTokens();
  const auth = { clientId: 'ams_unknown', clientSecret: 'wrong' };
  const client = createClient({ url: service.url, auth, fetch: watched });
  const call = client.agents.getMe();
  await expect(call).rejects.toBeInstanceOf(AuthenticationError);
  await expect(call).rejects.toMatchObject({ code: 'SIGN_IN_FAILED' });
  expect(watch.requests).toBe(1);
});

test('an error names its reason if a load balancer answers for the token endpoint', async () => {
  const reason = 'The service is unavailable; retry.';
  const balancer = () => Response.json({ error: { code: 'UNAVAILABLE', message: reason } }, { status: 503 });
  const auth = { clientId: 'any', clientSecret: 'any' };
  const client = createClient({
    url: service.url,
    auth,
    fetch: () => Promise.resolve(balancer()),
    maxRetries: 0,
  });
  await expect(client.agents.getMe()).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: `No access token was issued: ${reason}`,
  });
});

test('a call and its token have a timeout, and the next call requests another token', async () => {
  const agent = await service.agent();
  let requests = 0;
  const client = createClient({
    url: service.url,
    auth: { clientId: 'any', clientSecret: 'any' },
    timeoutMs: 50,
    fetch(url, init) {
      if (!url.endsWith('/token')) return fetch(url, init);
      requests += 1;
      if (requests > 1) return Promise.resolve(Response.json({ access_token: agent.token, expires_in: 900 }));
      return new Promise((_, reject) => {
        init.signal?.addEventListener('abort', () => reject(init.signal?.reason));
      });
    },
  });
  await expect(client.agents.getMe()).rejects.toMatchObject({ name: 'ConnectionError', code: 'TIMEOUT' });
  const call = () => client.agents.getMe({ timeoutMs: 60_000 }).catch((error: unknown) => error);
  await expect.poll(call).toMatchObject({ id: agent.id });
  expect(requests).toBe(2);
  const waiting = createClient({ url: service.url, auth: () => new Promise<string>(() => undefined) });
  await expect(waiting.agents.getMe({ timeoutMs: 50 })).rejects.toMatchObject({ code: 'TIMEOUT' });
});

test('a token is renewed before it expires', async () => {
  const agent = await service.agent();
  let issued = 0;
  const client = createClient({
    url: service.url,
    auth: { clientId: 'any', clientSecret: 'any' },
    async fetch(url, init) {
      if (!url.endsWith('/token')) return fetch(url, init);
      issued += 1;
      // The second one lasts.
      return Response.json({ access_token: agent.token, expires_in: issued === 1 ? 0 : 900 });
    },
  });
  for (let call = 0; call < 3; call += 1) await client.agents.getMe();
  expect(issued).toBe(2);
});

test('a callback is asked once more after a 401, then the call fails', async () => {
  const agent = await service.agent();
  const refusedTokens: (string | undefined)[] = [];
  const client = createClient({
    url: service.url,
    auth(refused) {
      refusedTokens.push(refused);
      return refused === undefined ? 'ended' : agent.token;
    },
  });
  expect(await client.agents.getMe()).toMatchObject({ id: agent.id });
  expect(refusedTokens).toEqual([undefined, 'ended']);
  let count = 0;
  const hopeless = createClient({ url: service.url, auth: () => `ended-${(count += 1)}` });
  await expect(hopeless.agents.getMe()).rejects.toMatchObject({ status: 401 });
  expect(count).toBe(2);
});

test('a socket whose token was revoked opens again with the next token', async () => {
  const [agent, other] = await Promise.all([service.agent(), service.agent()]);
  const { client_id: clientId, client_secret: clientSecret } = await credentialOf(agent);
  const tokens: string[] = [];
  const client = createClient({
    url: service.url,
    auth: { clientId, clientSecret },
    async fetch(url, init) {
      const response = await fetch(url, init);
      if (url.endsWith('/token')) tokens.push((await response.clone().json()).access_token);
      return response;
    },
  });
  const asOther = createClient({ url: service.url, auth: other.token });
  const revoke = (token = '') =>
    fetch(`${service.url}/revoke`, {
      method: 'POST',
      body: new URLSearchParams({ token, client_id: clientId, client_secret: clientSecret }),
    });
  let connections = 0;
  const events = client.events({
    transport: 'websocket',
    onState({ status }) {
      if (status !== 'open') return;
      connections += 1;
      // Nothing happens before the second connection.
      if (connections === 1) void revoke(tokens[0]);
      else void asOther.threads.create({ with_handle: agent.handle });
    },
  });
  for await (const event of events) if (event.type === 'thread.created') break;
  expect(connections).toBe(2);
  expect(tokens).toHaveLength(2);
});

test('the stored sign-in of the command line is renewed and stored again, for its owner only', async () => {
  const folder = await createFolder();
  const agent = await service.agent();
  const { client_id, client_secret } = await credentialOf(agent);
  const options = { folder, profile: 'work' };
  await writeSignIn({ url: service.url, client_id, client_secret }, options);
  const client = createClient({ url: service.url, auth: storedSignIn(options) });
  expect(await client.agents.getMe()).toMatchObject({ id: agent.id });
  const stored = await readSignIn(options);
  expect(stored).toMatchObject({ client_id, access_token: expect.stringMatching(/./) });
  expect((await stat(join(folder, 'work.json'))).mode & 0o777).toBe(0o600);
  // Another program of this person uses the same token.
  const second = createClient({ url: service.url, auth: storedSignIn(options) });
  await second.agents.getMe();
  expect(JSON.parse(await readFile(join(folder, 'work.json'), 'utf8'))).toEqual(stored);
  const absent = createClient({ url: service.url, auth: storedSignIn({ folder, profile: 'none' }) });
  await expect(absent.agents.getMe()).rejects.toThrow('Sign in with the command line');
});
