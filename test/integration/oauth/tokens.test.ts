import { system } from '../../../packages/core/src/domain/auth/audit.ts';
import { describe, expect, test } from 'vitest';
import { compose } from '../../../src/compose.ts';
import { loadConfig } from '../../../src/config.ts';
import { parseRevocation, revocationTopic } from '../../../src/services/auth/revocations.ts';
import { createTokens } from '../../../src/services/auth/tokens.ts';
import { clientSecretBasic, postForm, requestToken, useAuthorizationServer } from './authorization-server.ts';

const authority = useAuthorizationServer();

async function freshClient() {
  const agent = await authority.agent();
  return { ...(await authority.credential(agent.canonical_handle)), agent_id: agent.id };
}

type Client = { client_id: string; client_secret: string };
const introspect = (client: Client, token: string) =>
  postForm(`${authority.url}/introspect`, { token }, clientSecretBasic(client));
const revoke = (client: Client, token: string) =>
  postForm(`${authority.url}/revoke`, { token }, clientSecretBasic(client));
const refusal = (message: RegExp) =>
  expect.objectContaining({ code: 'UNAUTHORIZED', message: expect.stringMatching(message) });

describe('at every transport', () => {
  test('a token is valid for its own resource only; one for the API also for the WebSocket', async () => {
    const client = await freshClient();
    const { api, mcp, ws } = authority.resources;
    const opens = { [api]: ['api', 'ws'], [mcp]: ['mcp'], [ws]: ['ws'] };
    for (const [resource, audiences] of Object.entries(opens)) {
      const token = await requestToken(authority, client, { resource });
      for (const audience of ['api', 'mcp', 'ws'] as const) {
        const verified = authority.tokens.verify(token, audience);
        if (audiences.includes(audience)) expect((await verified).resource).toBe(resource);
        else
          await expect(verified).rejects.toEqual(refusal(new RegExp(`is for ${resource}; request one for`)));
      }
    }
  });

  test('an expired token is refused with that reason, and introspection reports it as inactive', async () => {
    const client = await freshClient();
    const { access_token } = await authority.operatorToken(client.handle, 2);
    await authority.tokens.verify(access_token, 'api');
    await expect.poll(() => authority.verifyToken(access_token)).toMatch(/has expired/);
    expect((await introspect(client, access_token)).json).toEqual({ active: false });
  });

  test('a value that was never issued is refused, whatever its length', async () => {
    for (const token of ['', 'x', 'x'.repeat(43), 'x'.repeat(100_000)]) {
      await expect(authority.tokens.verify(token, 'api')).rejects.toEqual(refusal(/unknown or was revoked/));
    }
  });
});

describe('introspection (RFC 7662)', () => {
  test('answers the client and other clients of the same agent only', async () => {
    const client = await freshClient();
    const sibling = await authority.credential(client.handle);
    const token = await requestToken(authority, client, { scope: 'threads:read' });
    for (const asking of [client, sibling]) {
      expect((await introspect(asking, token)).json).toEqual({
        active: true,
        sub: client.agent_id,
        handle: client.handle,
        client_id: client.client_id,
        iss: authority.url,
        aud: authority.url,
        scope: 'threads:read',
        token_type: 'Bearer',
        iat: expect.any(Number),
        exp: expect.any(Number),
      });
    }
    expect((await introspect(await freshClient(), token)).json).toEqual({ active: false });
    expect((await introspect({ ...client, client_secret: 'x' }, token)).status).toBe(401);
  });

  test('tokens of a retired agent and of a revoked credential are not active', async () => {
    const client = await freshClient();
    const sibling = await authority.credential(client.handle);
    const token = await requestToken(authority, client);
    await authority.revoke(client.client_id);
    expect((await introspect(sibling, token)).json).toEqual({ active: false });
  });
});

describe('revocation (RFC 7009)', () => {
  test('ends the token immediately, in the cache of this process too', async () => {
    const client = await freshClient();
    const token = await requestToken(authority, client);
    await authority.tokens.verify(token, 'api');
    expect((await revoke(client, token)).status).toBe(200);
    await expect.poll(() => authority.verifyToken(token)).toMatch(/revoked/);
    expect((await introspect(client, token)).json).toEqual({ active: false });
    expect((await revoke(client, token)).status).toBe(200);
  });

  test("does not end another client's token, not even of the same agent", async () => {
    const client = await freshClient();
    const token = await requestToken(authority, client);
    for (const other of [await freshClient(), await authority.credential(client.handle)]) {
      expect((await revoke(other, token)).status).toBe(200);
    }
    expect((await introspect(client, token)).json.active).toBe(true);
  });

  test("an operator's token is introspected and ended by a client of its agent, not by another", async () => {
    const client = await freshClient();
    const { access_token } = await authority.operatorToken(client.handle);
    expect((await introspect(client, access_token)).json).toMatchObject({
      active: true,
      sub: client.agent_id,
      client_id: 'operator',
    });
    await revoke(await freshClient(), access_token);
    expect((await introspect(client, access_token)).json.active).toBe(true);
    await revoke(client, access_token);
    expect((await introspect(client, access_token)).json).toEqual({ active: false });
  });

  test('of a credential reaches the caches of other processes through the bus', async () => {
    const other = compose(loadConfig(authority.env), 'other');
    const { unitOfWork, bus } = other;
    const began = Date.now();
    const tokens = createTokens({
      find: (hash) => unitOfWork.read(system, (work) => work.db.tokens.find(hash)),
      resources: authority.resources,
      // Its clock stands still, so that the message is all that can make it forget.
      now: () => began,
    });
    bus.subscribe(revocationTopic, (body) => tokens.forget(parseRevocation(body)));
    await expect.poll(() => bus.isHealthy()).toBe(true);
    const client = await freshClient();
    const token = await requestToken(authority, client);
    await tokens.verify(token, 'api');
    await authority.revoke(client.client_id);
    await expect
      .poll(
        () =>
          tokens.verify(token, 'api').then(
            () => 'good',
            (error: Error) => error.message,
          ),
        { interval: 5 },
      )
      .toMatch(/revoked/);
    await other.close();
  });
});
