import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { basicScopes, scopePresets } from '../../../packages/core/src/domain/auth/scopes.ts';
import {
  clientSecretBasic,
  postForm,
  requestToken,
  useAuthorizationServer,
} from '../oauth/authorization-server.ts';
import { runCli, runCliJson } from '../../clients/cli.ts';

const authority = useAuthorizationServer();
let handle: string;
beforeAll(async () => {
  handle = (await authority.agent()).canonical_handle;
});

const json = (...args: string[]) => runCliJson(authority.env, args);
const refused = (...args: string[]) => runCli(authority.env, args);
const credential = z.strictObject({
  client_id: z.string(),
  client_secret: z.string(),
  handle: z.string(),
  scopes: z.array(z.string()),
});
const rotation = z.strictObject({
  client_id: z.string(),
  client_secret: z.string(),
  previous_secret_until: z.int().nullable(),
});
const token = z.strictObject({
  access_token: z.string(),
  token_type: z.literal('Bearer'),
  expires_in: z.int(),
});

describe('credential', () => {
  test('create, use, list, revoke', async () => {
    const made = credential.parse(
      await json('credential', 'create', handle, '--scopes', 'threads:read, agents:read'),
    );
    expect(made).toMatchObject({ handle, scopes: ['threads:read', 'agents:read'] });
    const access_token = await requestToken(authority, made);
    await authority.tokens.verify(access_token, 'api');

    const { client_id, scopes } = made;
    const entry = {
      client_id,
      handle,
      name: null,
      scopes,
      created_at: expect.any(Number),
      last_used_at: expect.any(Number),
      rotated_at: null,
      previous_secret_until: null,
    };
    expect(await json('credential', 'list', handle)).toEqual({
      credentials: [{ ...entry, revoked_at: null }],
    });

    expect(await json('credential', 'revoke', made.client_id)).toEqual({
      client_id: made.client_id,
      revoked: true,
    });
    // The running process cached the token; the bus removed it from the cache.
    await expect
      .poll(() =>
        authority.tokens.verify(access_token, 'api').then(
          () => 'good',
          (error: Error) => error.message,
        ),
      )
      .toMatch(/revoked/);
    const answer = await postForm(
      `${authority.url}/token`,
      { grant_type: 'client_credentials' },
      clientSecretBasic(made),
    );
    expect(answer.json.error).toBe('invalid_client');
    expect(await json('credential', 'list', handle)).toEqual({
      credentials: [{ ...entry, revoked_at: expect.any(Number) }],
    });
  });

  test.each([
    [[], scopePresets.agent],
    [
      ['--scopes', 'read-only'],
      ['contacts:read', 'threads:read'],
    ],
    [
      ['--scopes', 'agent agents:write'],
      [...basicScopes, 'agents:read', 'agents:write', 'realtime:read'],
    ],
    [['--scopes', 'everything'], scopePresets.everything],
  ])('takes presets, and is for an agent by default: %s', async (options, granted) => {
    const created = credential.parse(await json('credential', 'create', handle, ...options));
    expect(created.scopes).toEqual([...granted]);
  });

  test('rotates a secret, with or without the previous one', async () => {
    const made = credential.parse(await json('credential', 'create', handle));
    const { client_id } = made;
    const second = rotation.parse(await json('credential', 'rotate', client_id));
    expect(second.previous_secret_until).toBeGreaterThan(Date.now());
    await requestToken(authority, made);
    const third = rotation.parse(await json('credential', 'rotate', client_id, '--end-previous'));
    expect(third.previous_secret_until).toBe(null);
    await requestToken(authority, { ...made, ...third });
    await expect(requestToken(authority, { ...made, ...second })).rejects.toThrow();
    expect((await refused('credential', 'rotate', 'ams_x')).err).toMatch(/^error: No active credential/);
  });

  test('prints a list for people', async () => {
    const agent = await authority.agent();
    expect((await refused('credential', 'list', agent.canonical_handle)).out).toBe('(none)\n');
    await authority.credential(agent.canonical_handle);
    const { out } = await refused('credential', 'list', agent.canonical_handle);
    expect(out).toMatch(
      /^client_id +ams_\w+\nhandle +owner-\d+\.agent\nname +-\nscopes +threads:read threads:write\n/,
    );
  });

  test('refuses unknown agents, clients and scopes', async () => {
    const once = credential.parse(await json('credential', 'create', handle));
    await json('credential', 'revoke', once.client_id);
    expect((await refused('credential', 'revoke', once.client_id)).err).toMatch(
      /^error: No active credential/,
    );
    expect((await refused('credential', 'revoke', 'ams_x')).code).toBe(1);
    expect((await refused('credential', 'create', 'no.body')).err).toBe('error: No such agent: no.body\n');
    expect((await refused('credential', 'list', 'absent')).code).toBe(1);
    expect((await refused('credential', 'create', handle, '--scopes', 'openid')).code).toBe(2);
  });
});

describe('token', () => {
  test('is valid for its audience, and the authorization server knows it', async () => {
    for (const audience of ['api', 'mcp', 'ws'] as const) {
      const { access_token } = token.parse(await json('token', handle, '--resource', audience));
      const actor = await authority.tokens.verify(access_token, audience);
      expect(actor).toMatchObject({ handle, client_id: 'operator', resource: authority.resources[audience] });
      expect(actor.scopes).toEqual(new Set(scopePresets.agent));
    }
    const whole = token.parse(await json('token', handle));
    for (const audience of ['api', 'mcp', 'ws'] as const) {
      const actor = await authority.tokens.verify(whole.access_token, audience);
      expect(actor.resource).toBe(authority.url);
    }
    const client = await authority.credential(handle);
    const { access_token } = token.parse(await json('token', handle, '--scopes', 'threads:read'));
    const introspected = await postForm(
      `${authority.url}/introspect`,
      { token: access_token },
      clientSecretBasic(client),
    );
    expect(introspected.json).toMatchObject({ active: true, scope: 'threads:read' });
    await postForm(`${authority.url}/revoke`, { token: access_token }, clientSecretBasic(client));
    await expect(authority.tokens.verify(access_token, 'api')).rejects.toMatchObject({
      code: 'UNAUTHORIZED',
    });
  });

  test('is valid for at most 15 minutes', async () => {
    expect(token.parse(await json('token', handle)).expires_in).toBe(900);
    expect(token.parse(await json('token', handle, '--expires-in', '60')).expires_in).toBe(60);
    for (const seconds of ['0', '901', '1.5', 'soon', '-1']) {
      expect((await refused('token', handle, `--expires-in=${seconds}`)).code).toBe(2);
    }
  });

  test('refuses unknown agents and audiences', async () => {
    expect((await refused('token', 'no.body')).err).toBe('error: No such agent: no.body\n');
    expect((await refused('token', handle, '--resource', 'ftp')).code).toBe(2);
  });
});
