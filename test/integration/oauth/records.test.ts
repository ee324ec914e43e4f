import { randomBytes } from 'node:crypto';
import type { Adapter } from 'oidc-provider';
import { beforeAll, describe, expect, test } from 'vitest';
import { createAdapters } from '../../../src/transports/oauth/storage-adapter.ts';
import type { CallHooks } from '../../../src/transports/oauth/call-hooks.ts';
import { useAuthorizationServer } from './authorization-server.ts';

/** Nothing calls: the adapters are asked by hand. */
const hooks: CallHooks = {
  onClientIdentified: async () => {},
  mayContinue: () => true,
  isGrantUse: () => false,
  onGrantUse: () => undefined,
  rotatedRefreshToken: () => undefined,
  isSingleTokenRevocation: () => false,
};

const authority = useAuthorizationServer();
let adapterOf: (model: string) => Adapter;
beforeAll(async () => {
  const resources = Object.values(authority.resources);
  adapterOf = createAdapters({ storage: authority.storage, hooks, issuer: 'http://localhost', resources });
});

const freshId = () => randomBytes(32).toString('base64url');
const seconds = () => Math.floor(Date.now() / 1000);

describe('records of pending flows', () => {
  test('are found again by their id, changed, consumed and removed', async () => {
    const codes = adapterOf('AuthorizationCode');
    const id = freshId();
    await codes.upsert(id, { jti: id, kind: 'AuthorizationCode', scope: 'a' }, 60);
    await codes.upsert(id, { jti: id, kind: 'AuthorizationCode', scope: 'b' }, 60);
    expect(await codes.find(id)).toEqual({ jti: id, kind: 'AuthorizationCode', scope: 'b' });
    await codes.consume(id);
    expect(await codes.find(id)).toMatchObject({ consumed: expect.any(Number) });
    expect(await adapterOf('RefreshToken').find(id)).toBeUndefined();
    await codes.destroy(id);
    expect(await codes.find(id)).toBeUndefined();
  });

  test('are stored under the hash of their id', async () => {
    const id = freshId();
    await adapterOf('RefreshToken').upsert(id, { jti: id, kind: 'RefreshToken', grantId: 'g0' }, 60);
    const rows = await authority.sql<{ text: string }>('select r::text as text from oauth_records r');
    expect(rows.map((row) => row.text).join('\n')).not.toContain(id);
  });

  test('end with their grant', async () => {
    const refresh = adapterOf('RefreshToken');
    const [mine, other] = [freshId(), freshId()];
    await refresh.upsert(mine, { jti: mine, grantId: 'g1' }, 60);
    await refresh.upsert(other, { jti: other, grantId: 'g2' }, 60);
    await adapterOf('AccessToken').revokeByGrantId('g1');
    expect(await refresh.find(mine)).toBeUndefined();
    expect(await refresh.find(other)).toBeDefined();
  });

  test('are consumed once by concurrent requests, and the grant ends', async () => {
    const codes = adapterOf('AuthorizationCode');
    const grantId = await freshGrant();
    const id = freshId();
    await codes.upsert(id, { jti: id, grantId }, 60);
    const uses = await Promise.allSettled(Array.from({ length: 8 }, async () => codes.consume(id)));
    expect(uses.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await adapterOf('Grant').find(grantId)).toBeUndefined();
  });

  test('are removed after they expire', async () => {
    const requests = adapterOf('Interaction');
    const [short, long] = [freshId(), freshId()];
    await requests.upsert(short, {}, 1);
    await requests.upsert(long, {}, 100);
    const { oauthRecords } = authority.core.db;
    expect(await oauthRecords.removeExpired(Date.now() + 2_000, 10)).toBe(1);
    expect(await requests.find(short)).toBeUndefined();
    expect(await requests.find(long)).toBeDefined();
  });
});

/** A person's grant for their agent. */
async function freshGrant(): Promise<string> {
  const { account_id, agent } = await authority.person();
  const { grant_id } = await authority.storage.openGrant({
    account_id,
    agent_id: agent.id,
    client_id: 'some-app',
    client_name: null,
    redirect_host: '127.0.0.1',
    scopes: ['threads:read'],
  });
  return grant_id;
}

test('access tokens of a grant end together, in every cache', async () => {
  const agent = await authority.agent();
  const grantId = await freshGrant();
  const tokens = [freshId(), freshId()];
  for (const jti of tokens) {
    const exp = seconds() + 60;
    await adapterOf('AccessToken').upsert(
      jti,
      {
        jti,
        kind: 'AccessToken',
        clientId: 'some-app',
        grantId,
        aud: authority.resources.mcp,
        scope: 'threads:read',
        iat: seconds(),
        exp,
        extra: { sub: agent.id, handle: agent.canonical_handle },
      },
      60,
    );
    expect(await adapterOf('ClientCredentials').find(jti)).toBeUndefined();
    expect(await authority.tokens.verify(jti, 'mcp')).toMatchObject({
      agent_id: agent.id,
      client_id: 'some-app',
    });
  }
  await adapterOf('AccessToken').revokeByGrantId(grantId);
  for (const token of tokens) {
    await expect
      .poll(() =>
        authority.tokens.verify(token, 'mcp').then(
          () => 'good',
          (error: Error) => error.message,
        ),
      )
      .toMatch(/revoked/);
  }
});

test('expired access tokens are removed', async () => {
  const agent = await authority.agent();
  await authority.operatorToken(agent.canonical_handle, 1);
  await authority.operatorToken(agent.canonical_handle, 900);
  const { tokens } = authority.core.db;
  expect(await tokens.removeExpired(Date.now() + 2_000, 10)).toBe(1);
});

test('a token without an agent is not stored', async () => {
  const jti = freshId();
  const saving = adapterOf('AccessToken').upsert(
    jti,
    { jti, kind: 'AccessToken', clientId: 'x', aud: 'y' },
    60,
  );
  await expect(saving).rejects.toThrow();
});
