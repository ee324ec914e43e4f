import { expect, test } from 'vitest';
import { endConnection, listConnections } from '../../../src/services/auth/connections.ts';
import { issueToken } from '../../../src/services/auth/issue-token.ts';
import { type OAuthApp, registerApp, type Tokens } from '../../clients/oauth/app.ts';
import { requestRest } from '../../clients/rest.ts';
import { type AuthorizationServer, useAuthorizationServer } from '../oauth/authorization-server.ts';
import { inboxOf } from './setup.ts';

const authority = useAuthorizationServer();

async function tokenOf(handle: string): Promise<string> {
  const resource = authority.resources.api;
  const { access_token } = await authority.write((work) =>
    issueToken(work, { handle, resource, scopes: ['threads:read', 'threads:write'], expires_in: 900 }),
  );
  return access_token;
}

type Person = Awaited<ReturnType<AuthorizationServer['person']>>;

/** A client that a person has connected, and that has leased the only message of the agent; another instance waits for work. */
async function startLeases(who: Person) {
  const app = await registerApp(authority.url);
  const resource = authority.resources.api;
  const tokens = await app.connect(who, { resource });
  const api = `${authority.url}/v1`;
  const connected = inboxOf(api, { token: tokens.access_token });
  expect((await connected.turnOn()).status).toBe(200);
  const asker = await authority.agent(who.username, 'asker');
  const created = await requestRest('POST', `${api}/threads`, {
    token: await tokenOf(asker.canonical_handle),
    body: { with_handle: who.agent.canonical_handle, initial_message: 'question' },
  });
  expect(created.status).toBe(201);
  const [lease] = await connected.leases({ lease_seconds: 600 });
  expect(lease?.event.data.content).toBe('question');
  const other = inboxOf(api, { token: await tokenOf(who.agent.canonical_handle) });
  const waiting = other.leases({ wait_seconds: 20 });
  return { app, tokens, connected, other, lease: lease?.id ?? '', waiting };
}

const endings = {
  'its person ends the connection': async (who: Person) => {
    const [connection] = await authority.read((work) => listConnections(work, who.account_id));
    const revocations = await authority.write((work) =>
      endConnection(work, who.account_id, connection?.grant_id ?? ''),
    );
    await authority.publishRevocation(revocations);
  },
  'its client revokes the refresh token': async (_who: Person, app: OAuthApp, tokens: Tokens) => {
    expect((await app.revoke(tokens.refresh_token)).status).toBe(200);
  },
};

test.each(Object.entries(endings))(
  'the leases of a grant end at once when %s, and another instance gets the items',
  async (_name, end) => {
    const who = await authority.person();
    const { app, tokens, connected, other, lease, waiting } = await startLeases(who);
    await end(who, app, tokens);
    const [taken] = await waiting;
    expect([taken?.event.data.content, taken?.attempt]).toEqual(['question', 1]);
    expect((await connected.acknowledge(lease, { reply: 'late' })).status).toBe(401);
    expect((await other.acknowledge(lease, { reply: 'late' })).body.error.code).toBe('LEASE_LOST');
    expect((await other.acknowledge(taken?.id ?? '', { reply: 'answer' })).body.message).toMatchObject({
      content: 'answer',
      sequence: 2,
    });
  },
);

test('a lease outlives the token that claimed it when the client gets a new one', async () => {
  const who = await authority.person();
  const app = await registerApp(authority.url);
  const tokens = await app.connect(who, { resource: authority.resources.api });
  const inbox = inboxOf(`${authority.url}/v1`, { token: tokens.access_token });
  await inbox.turnOn();
  const asker = await authority.agent(who.username, 'asker');
  await requestRest('POST', `${authority.url}/v1/threads`, {
    token: await tokenOf(asker.canonical_handle),
    body: { with_handle: who.agent.canonical_handle, initial_message: 'question' },
  });
  const [lease] = await inbox.leases();
  const refreshed = await app.refresh(tokens.refresh_token);
  expect(refreshed.status).toBe(200);
  const renewed = inboxOf(`${authority.url}/v1`, { token: String(refreshed.json.access_token) });
  expect((await renewed.acknowledge(lease?.id ?? '')).status).toBe(200);
});
