import { describe, expect, test } from 'vitest';
import { registerApp, readTokens } from '../../clients/oauth/app.ts';
import {
  type AuthorizationServer,
  revokedTokenMessage,
  useAuthorizationServer,
} from './authorization-server.ts';

// As strict as can be; refresh-grace.test.ts has the rest.
const authority = useAuthorizationServer({ refresh_grace_s: 0 });

const verdict: AuthorizationServer['verifyToken'] = (token, audience) =>
  authority.verifyToken(token, audience);

async function connected(over: Record<string, string | string[] | null> = {}) {
  const app = await registerApp(authority.url);
  const who = await authority.person();
  return { app, who, tokens: await app.connect(who, over) };
}

describe('rotation', () => {
  test('each use returns a new refresh token for the same grant, valid for another thirty days', async () => {
    const { app, who, tokens } = await connected();
    const seen = new Set([tokens.refresh_token]);
    let { refresh_token } = tokens;
    for (let use = 0; use < 4; use += 1) {
      const next = readTokens(await app.refresh(refresh_token));
      expect(next.scope).toBe(tokens.scope);
      expect((await authority.tokens.verify(next.access_token, 'api')).agent_id).toBe(who.agent.id);
      ({ refresh_token } = next);
      seen.add(refresh_token);
    }
    expect(seen.size).toBe(5);
    const [row] = await authority.sql<{ life: number }>(
      `select max(expires_at - $1)::float8 as life from oauth_records where payload->>'clientId' = $2`,
      [Date.now(), app.client_id],
    );
    expect(Math.abs((row?.life ?? 0) - 30 * 24 * 3_600_000)).toBeLessThan(60_000);
  });

  test('a second use ends every token, the grant and the connection', async () => {
    const { app, who, tokens } = await connected();
    const other = await app.connect(who);
    const second = readTokens(await app.refresh(tokens.refresh_token));
    const third = readTokens(await app.refresh(second.refresh_token, { resource: authority.resources.mcp }));
    const again = await app.refresh(tokens.refresh_token);
    expect([again.status, again.json.error]).toEqual([400, 'invalid_grant']);
    await expect.poll(() => verdict(tokens.access_token)).toMatch(revokedTokenMessage);
    await expect.poll(() => verdict(second.access_token)).toMatch(revokedTokenMessage);
    await expect.poll(() => verdict(third.access_token, 'mcp')).toMatch(revokedTokenMessage);
    for (const { refresh_token } of [tokens, second, third]) {
      expect((await app.refresh(refresh_token)).json.error).toBe('invalid_grant');
    }
    // What the same app was granted another time stands.
    expect(await verdict(other.access_token)).toBe('good');
    const grants = await authority.sql('select 1 from client_grants where client_id = $1', [app.client_id]);
    expect(grants).toHaveLength(1);
  });

  test('of many concurrent uses at most one succeeds, and its tokens are revoked', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { app, tokens } = await connected();
      const answers = await Promise.all(Array.from({ length: 6 }, () => app.refresh(tokens.refresh_token)));
      const successes = answers.filter(({ status }) => status === 200);
      expect(successes.length).toBeLessThanOrEqual(1);
      for (const success of successes) {
        const { access_token, refresh_token } = readTokens(success);
        await expect.poll(() => verdict(access_token)).toMatch(revokedTokenMessage);
        expect((await app.refresh(refresh_token)).json.error).toBe('invalid_grant');
      }
      await expect.poll(() => verdict(tokens.access_token)).toMatch(revokedTokenMessage);
    }
  });
});

describe('resources', () => {
  /** The interfaces that accept a token. */
  async function interfacesOf(token: string) {
    const names = ['api', 'mcp', 'ws'] as const;
    const verdicts = await Promise.all(names.map((name) => verdict(token, name)));
    return names.filter((_name, index) => verdicts[index] === 'good').join(' ');
  }
  const acceptedBy = { service: 'api mcp ws', mcp: 'mcp', api: 'api ws', ws: 'ws' };

  test('a client that named none gets tokens for the whole service, and for each interface by its name', async () => {
    const { app, tokens } = await connected();
    expect(await interfacesOf(tokens.access_token)).toBe(acceptedBy.service);
    let { refresh_token } = tokens;
    for (const name of ['resource', 'audience']) {
      for (const [resource, accepted] of Object.entries(acceptedBy)) {
        const address = authority.resources[resource as keyof typeof acceptedBy];
        for (const over of [{ [name]: address }, { [name]: `${address}/` }, {}]) {
          const next = readTokens(await app.refresh(refresh_token, over));
          ({ refresh_token } = next);
          const expected = name in over ? accepted : acceptedBy.service;
          expect(await interfacesOf(next.access_token)).toBe(expected);
        }
      }
    }
  });

  test('a client that named the whole service, or that names one only with the code, is as one that named none', async () => {
    const { mcp, service } = authority.resources;
    const app = await registerApp(authority.url);
    const who = await authority.person();
    for (const [over, exchanged, first] of [
      [{ resource: service }, {}, acceptedBy.service],
      [{}, { resource: mcp }, acceptedBy.mcp],
      [{}, { resource: service }, acceptedBy.service],
    ] as [Record<string, string>, Record<string, string>, string][]) {
      const tokens = await app.connect(who, over, exchanged);
      expect(await interfacesOf(tokens.access_token)).toBe(first);
      const next = readTokens(await app.refresh(tokens.refresh_token));
      expect(await interfacesOf(next.access_token)).toBe(acceptedBy.service);
    }
  });

  test('a grant that a person approved for one never gives a token for the whole service', async () => {
    const { mcp, service } = authority.resources;
    const app = await registerApp(authority.url);
    const who = await authority.person();
    const answer = await app.approved(who, { resource: mcp });
    const code = answer.get('code') ?? '';
    const tooMuch = await app.exchange(code, { resource: service });
    expect([tooMuch.status, tooMuch.json.error]).toEqual([400, 'invalid_target']);
    expect(tooMuch.json.error_description).toContain(`${authority.url}/mcp`);
    // Neither the code nor a refresh token is used up.
    let tokens = readTokens(await app.exchange(code));
    for (const over of [{ resource: service }, { resource: `${service}/` }, { audience: service }]) {
      expect((await app.refresh(tokens.refresh_token, over)).json.error).toBe('invalid_target');
      tokens = readTokens(await app.refresh(tokens.refresh_token));
      expect(await interfacesOf(tokens.access_token)).toBe(acceptedBy.mcp);
    }
  });

  test('a refresh without a resource is for the one of the first request', async () => {
    const { mcp, ws } = authority.resources;
    for (const [over, audience] of [
      [{ resource: mcp }, 'mcp'],
      [{ resource: `${mcp}/` }, 'mcp'],
      [{ audience: ws }, 'ws'],
      [{ resource: [ws, mcp] }, 'ws'],
    ] as const) {
      const { app, tokens } = await connected(
        Object.fromEntries(Object.entries(over).map(([name, value]) => [name, [value].flat()])),
      );
      expect(await verdict(tokens.access_token, audience)).toBe('good');
      const next = readTokens(await app.refresh(tokens.refresh_token));
      expect(await verdict(next.access_token, audience)).toBe('good');
    }
  });

  test('an unknown one is refused without using up the refresh token', async () => {
    const { app, tokens } = await connected();
    const { api, mcp } = authority.resources;
    for (const fields of [
      { resource: 'https://elsewhere.example/v1' },
      { resource: `${api}?x` },
      { resource: 'v1' },
      { resource: [api, mcp] },
      { audience: 'elsewhere' },
    ]) {
      const answer = await app.refresh(tokens.refresh_token, fields);
      expect([answer.status, answer.json.error]).toEqual([400, 'invalid_target']);
    }
    expect((await app.refresh(tokens.refresh_token)).status).toBe(200);
  });

  test('an unknown one at /authorize is reported to the app', async () => {
    const app = await registerApp(authority.url);
    const answer = await fetch(app.address({ resource: 'https://elsewhere.example/v1' }), {
      redirect: 'manual',
    });
    const told = new URL(answer.headers.get('Location') ?? '').searchParams;
    expect([told.get('error'), told.get('state')]).toEqual(['invalid_target', app.state]);
    expect(told.get('error_description')).toMatch(/resource must be one of \S+\/mcp /);
  });
});

describe('scope', () => {
  test('can be narrowed for one token and restored, but never exceeds the grant', async () => {
    const { app, tokens } = await connected({ scope: 'threads:read contacts:read' });
    const narrow = readTokens(await app.refresh(tokens.refresh_token, { scope: 'threads:read' }));
    expect(narrow.scope).toBe('threads:read');
    const whole = readTokens(await app.refresh(narrow.refresh_token));
    expect(whole.scope.split(' ').sort()).toEqual(['contacts:read', 'threads:read']);
    let { refresh_token } = whole;
    for (const [scope, granted] of [
      ['threads:read threads:write', 'threads:read'],
      ['threads:read offline_access', 'threads:read'],
      [' openid  threads:read ', 'threads:read'],
      ['agents:write', whole.scope],
      ['openid', whole.scope],
      ['nonsense', whole.scope],
    ] as const) {
      const next = readTokens(await app.refresh(refresh_token, { scope }));
      expect([scope, next.scope]).toEqual([scope, granted]);
      ({ refresh_token } = next);
    }
    const twice = await app.refresh(refresh_token, { scope: ['threads:read', 'openid'] });
    expect([twice.status, twice.json.error]).toEqual([400, 'invalid_request']);
  });
});

describe('revocation (RFC 7009)', () => {
  test('of a refresh token ends the grant with all of its tokens', async () => {
    const { app, tokens } = await connected();
    const next = readTokens(await app.refresh(tokens.refresh_token));
    expect((await app.revoke(next.refresh_token)).status).toBe(200);
    await expect.poll(() => verdict(tokens.access_token)).toMatch(revokedTokenMessage);
    await expect.poll(() => verdict(next.access_token)).toMatch(revokedTokenMessage);
    expect(await authority.sql('select 1 from client_grants where client_id = $1', [app.client_id])).toEqual(
      [],
    );
    expect((await app.revoke(next.refresh_token)).status).toBe(200);
  });

  test('of an access token ends only that token', async () => {
    const { app, tokens } = await connected();
    const next = readTokens(await app.refresh(tokens.refresh_token));
    expect((await app.revoke(tokens.access_token)).status).toBe(200);
    await expect.poll(() => verdict(tokens.access_token)).toMatch(revokedTokenMessage);
    expect(await verdict(next.access_token)).toBe('good');
    expect((await app.refresh(next.refresh_token)).status).toBe(200);
  });
});
