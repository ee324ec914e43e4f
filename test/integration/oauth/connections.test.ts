import { describe, expect, test } from 'vitest';
import {
  listApprovedAgents,
  endConnection,
  endConnectionsBeyondRights,
  listConnections,
} from '../../../src/services/auth/connections.ts';
import { readAgentAudit } from '../../../src/services/agents/audit.ts';
import { registerAgentAsOperator } from '../../../src/services/agents/operator-registration.ts';
import {
  createOrganization,
  removeFromOrganization,
  setRole,
} from '../../../src/services/people/organizations.ts';
import { joinOrganization } from '../../support/join-organization.ts';
import type { Scope } from '../../../packages/core/src/domain/auth/scopes.ts';
import type { SystemWork } from '../../../src/work/unit-of-work.ts';
import { type OAuthApp, registerApp, type Tokens, type Consenting } from '../../clients/oauth/app.ts';
import {
  type AuthorizationServer,
  revokedTokenMessage,
  useAuthorizationServer,
} from './authorization-server.ts';

const authority = useAuthorizationServer();

const write = <T>(run: (work: SystemWork) => Promise<T>) => authority.write(run);
const verdict: AuthorizationServer['verifyToken'] = (token, audience) =>
  authority.verifyToken(token, audience);

/** Expects that a connection has ended: both tokens are refused, and the connection is not listed. */
async function expectEnded(app: OAuthApp, tokens: Tokens, account_id: string): Promise<void> {
  await expect.poll(() => verdict(tokens.access_token)).toMatch(revokedTokenMessage);
  expect((await app.refresh(tokens.refresh_token)).json.error).toBe('invalid_grant');
  const listed = await authority.read((work) => listConnections(work, account_id));
  expect(listed.filter(({ client_id }) => client_id === app.client_id)).toEqual([]);
}

async function expectStillValid(app: OAuthApp, tokens: Tokens): Promise<void> {
  expect(await verdict(tokens.access_token)).toBe('good');
  expect((await app.refresh(tokens.refresh_token)).status).toBe(200);
}

describe('the connected clients of a person', () => {
  test('are listed with their permissions and the time of their last token request', async () => {
    const who = await authority.person();
    const app = await registerApp(authority.url, {
      client_name: 'Quill',
      redirect_uris: ['http://127.0.0.1/callback'],
    });
    const before = Date.now();
    await app.approved(who);
    await app.connect(who, { scope: 'threads:read', redirect_uri: 'http://127.0.0.1:7777/callback' });
    const listed = await authority.read((work) => listConnections(work, who.account_id));
    const same = {
      grant_id: expect.stringMatching(/^grt_/),
      agent_id: who.agent.id,
      handle: who.agent.canonical_handle,
      client_id: app.client_id,
      client_name: 'Quill',
      created_at: expect.any(Number),
    };
    expect(listed).toEqual([
      {
        ...same,
        redirect_host: '127.0.0.1:7777',
        scopes: ['threads:read'],
        last_used_at: expect.any(Number),
      },
      { ...same, redirect_host: '127.0.0.1', scopes: expect.any(Array), last_used_at: null },
    ]);
    expect(listed[0]?.last_used_at).toBeGreaterThanOrEqual(before);
  });

  test('can be ended only by their person', async () => {
    const [who, other] = [await authority.person(), await authority.person()];
    const app = await registerApp(authority.url);
    const tokens = await app.connect(who);
    const [connection] = await authority.read((work) => listConnections(work, who.account_id));
    const grant_id = connection?.grant_id ?? '';
    for (const [account_id, id] of [
      [other.account_id, grant_id],
      [who.account_id, 'grt_unknown'],
    ] as const) {
      await expect(write((work) => endConnection(work, account_id, id))).rejects.toMatchObject({
        code: 'NOT_FOUND',
      });
    }
    await expectStillValid(app, tokens);
    await authority.publishRevocation(await write((work) => endConnection(work, who.account_id, grant_id)));
    await expectEnded(app, tokens, who.account_id);
  });

  test('are in the audit log of the agent, with the app and how they ended', async () => {
    const who = await authority.person();
    const app = await registerApp(authority.url);
    await app.connect(who);
    const byClient = await app.connect(who);
    const [, first] = await authority.read((work) => listConnections(work, who.account_id));
    await write((work) => endConnection(work, who.account_id, first?.grant_id ?? ''));
    expect((await app.revoke(byClient.refresh_token)).status).toBe(200);
    const readEntries = async () => {
      const filter = { agent_id: who.agent.id, kind: 'access', limit: 10 } as const;
      const { entries } = await authority.read((work) => readAgentAudit(work, who.account_id, filter));
      return entries.filter(({ act }) => act.startsWith('connection.'));
    };
    await expect.poll(async () => (await readEntries()).length).toBe(4);
    const entries = await readEntries();
    expect(entries.map(({ act, about }) => [act, about])).toEqual([
      ['connection.ended', app.client_id],
      ['connection.ended', app.client_id],
      ['connection.granted', app.client_id],
      ['connection.granted', app.client_id],
    ]);
    expect(entries[1]?.detail).toEqual({ grant_id: first?.grant_id });
  });

  test('are remembered for each agent and scope', async () => {
    const who = await authority.person();
    const other = await authority.agent(who.username, 'other');
    const app = await registerApp(authority.url);
    const before = (person: typeof who, ...scopes: Scope[]) =>
      authority.read((work) => listApprovedAgents(work, person.account_id, app.client_id, scopes));
    expect(await before(who, 'threads:read')).toEqual([]);
    await app.connect(who, { scope: 'threads:read contacts:read' });
    await app.connect({ ...who, agent: other }, { scope: 'threads:read' });
    expect(await before(who, 'threads:read')).toEqual([other.id, who.agent.id]);
    expect(await before(who, 'threads:read', 'contacts:read')).toEqual([who.agent.id]);
    expect(await before(who, 'threads:read', 'threads:write')).toEqual([]);
    expect(await before(await authority.person(), 'threads:read')).toEqual([]);
  });
});

describe('the right to act as the agent', () => {
  /** A person in an organization, and apps connected to what the person may act as there. */
  async function inOrganization(role: 'admin' | 'member') {
    const who = await authority.person();
    const slug = `org-${who.username}`;
    const agents = await write(async (work) => {
      await createOrganization(work, slug);
      await joinOrganization(work, { slug, username: who.username, role });
      const shared = await registerAgentAsOperator(work, { handle: `${slug}.shared`, scope: 'shared' });
      const tied = await registerAgentAsOperator(work, {
        handle: `${slug}.tied`,
        scope: 'member',
        member: who.username,
      });
      return { shared, tied };
    });
    const connect = async (agent: { id: string }) => {
      const app = await registerApp(authority.url);
      return { app, tokens: await app.connect({ ...who, agent } satisfies Consenting) };
    };
    return { who, slug, agents, connect };
  }

  test('ends with the membership, and so do the tokens that depend on it', async () => {
    const { who, slug, agents, connect } = await inOrganization('member');
    const [tied, own] = [await connect(agents.tied), await connect(who.agent)];
    const { ended: revocations } = await write((work) =>
      removeFromOrganization(work, { slug, username: who.username }),
    );
    await authority.publishRevocation(revocations);
    await expectEnded(tied.app, tied.tokens, who.account_id);
    await expectStillValid(own.app, own.tokens);
  });

  test('shrinks with the role', async () => {
    const { who, slug, agents, connect } = await inOrganization('admin');
    const [shared, tied] = [await connect(agents.shared), await connect(agents.tied)];
    const change = { slug, username: who.username, role: 'member' } as const;
    await authority.publishRevocation((await write((work) => setRole(work, change))).ended);
    await expectEnded(shared.app, shared.tokens, who.account_id);
    await expectStillValid(tied.app, tied.tokens);
  });

  test('is checked at each refresh, and when a code is used', async () => {
    const { who, agents, connect } = await inOrganization('admin');
    const { app, tokens } = await connect(agents.shared);
    const waiting = await registerApp(authority.url);
    const answer = await waiting.approved({ ...who, agent: agents.shared });
    await authority.sql('delete from organization_members where account_id = $1', [who.account_id]);
    expect((await app.refresh(tokens.refresh_token)).json.error).toBe('invalid_grant');
    expect((await waiting.exchange(answer.get('code') ?? '')).json.error).toBe('invalid_grant');
    // Found by the step itself, among everybody's.
    const revocations = await write((work) => endConnectionsBeyondRights(work));
    await authority.publishRevocation(revocations);
    await expectEnded(app, tokens, who.account_id);
  });

  test('ends with the agent', async () => {
    const who = await authority.person();
    const app = await registerApp(authority.url);
    const tokens = await app.connect(who);
    const answer = await app.approved(who);
    await authority.retire(who.agent);
    await expectEnded(app, tokens, who.account_id);
    expect((await app.exchange(answer.get('code') ?? '')).json.error).toBe('invalid_grant');
    expect(
      await authority.sql('select 1 from oauth_records where payload->>$1 = $2', ['clientId', app.client_id]),
    ).toEqual([]);
  });
});

test('a token is valid only while its grant exists', async () => {
  const app = await registerApp(authority.url);
  const { access_token } = await app.connect(await authority.person());
  const { token_id } = await authority.tokens.verify(access_token, 'api');
  const hashes = [Buffer.from(token_id, 'base64url')];
  const { tokens } = authority.core.db;
  expect(await tokens.listValid(hashes, Date.now())).toEqual(hashes);
  await authority.sql('delete from client_grants where client_id = $1', [app.client_id]);
  authority.tokens.forget({ token_id });
  expect(await verdict(access_token)).toMatch(revokedTokenMessage);
  expect(await tokens.listValid(hashes, Date.now())).toEqual([]);
});

test('only grants without a valid token or code are removed by maintenance', async () => {
  const { clientGrants } = authority.core.db;
  const who = await authority.person();
  const app = await registerApp(authority.url);
  await app.approved(who);
  const { refresh_token } = await app.connect(who);
  const count = async () =>
    (await authority.sql('select 1 from client_grants where client_id = $1', [app.client_id])).length;
  const sweep = async (time: number) => {
    await clientGrants.removeExpired(time, 1_000);
    return count();
  };
  const [minute, day] = [60_000, 24 * 3_600_000];
  expect(await sweep(Date.now() + 5 * minute)).toBe(2);
  // An unused code has expired ten minutes after approval.
  expect(await sweep(Date.now() + 11 * minute)).toBe(1);
  expect(await sweep(Date.now() + 30 * day)).toBe(1);
  expect((await app.refresh(refresh_token)).status).toBe(200);
  expect(await sweep(Date.now() + 31 * day)).toBe(0);
});
