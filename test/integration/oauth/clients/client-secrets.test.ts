import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { describe, expect, test } from 'vitest';
import { createApp, readTokens, registerApp, register } from '../../../clients/oauth/app.ts';
import { clientSecretBasic, postForm, useAuthorizationServer } from '../authorization-server.ts';

const authority = useAuthorizationServer();

const redirect_uris = ['http://127.0.0.1/callback'];
const ask = (metadata: unknown) => register(authority.url, metadata);

describe('a registered client', () => {
  test.each(['client_secret_basic', 'client_secret_post'])(
    'gets a secret if it asks for %s',
    async (method) => {
      const { status, json } = await ask({ redirect_uris, token_endpoint_auth_method: method });
      expect([status, json]).toEqual([
        201,
        expect.objectContaining({
          token_endpoint_auth_method: method,
          client_secret: expect.stringMatching(/^[\w-]{43}$/),
          client_secret_expires_at: 0,
        }),
      ]);
      const client_id = String(json['client_id']);
      const client_secret = String(json['client_secret']);
      const [row] = await authority.sql<{ metadata: object }>(
        'select metadata from oauth_clients where client_id = $1',
        [client_id],
      );
      expect(JSON.stringify(row)).not.toContain(client_secret);
      const hashed = createHash('sha256').update(client_secret).digest('base64url');
      expect(row?.metadata).toMatchObject({ client_secret: hashed });

      const who = await authority.person();
      const app = createApp(authority.url, client_id, 'http://127.0.0.1:4000/callback');
      const code = (await app.approved(who)).get('code') ?? '';
      const fields = { redirect_uri: app.redirect_uri, code_verifier: app.verifier, code };
      for (const secret of ['wrong', hashed, undefined, '']) {
        const answer = await app.exchange(code, secret === undefined ? {} : { client_secret: secret });
        expect([answer.status, answer.json.error]).toEqual([401, 'invalid_client']);
      }
      const exchanged = await postForm(
        `${authority.url}/token`,
        { grant_type: 'authorization_code', ...fields },
        clientSecretBasic({ client_id, client_secret }),
      );
      const tokens = readTokens(exchanged);
      expect((await app.refresh(tokens.refresh_token)).status).toBe(401);
      expect((await app.refresh(tokens.refresh_token, { client_secret })).status).toBe(200);
      // It can ask about its own tokens, but not sign in without a person.
      const secret = clientSecretBasic({ client_id, client_secret });
      const { json: active } = await postForm(
        `${authority.url}/introspect`,
        { token: tokens.access_token },
        secret,
      );
      expect(active).toMatchObject({ active: true, sub: who.agent.id });
      const alone = await postForm(`${authority.url}/token`, { grant_type: 'client_credentials' }, secret);
      expect(alone.status).toBe(400);
    },
  );

  test('without a secret may send an empty one by HTTP Basic, with or without its id in the body', async () => {
    const app = await registerApp(authority.url, { redirect_uris });
    const who = await authority.person();
    const [basic, other] = [app.client_id, 'app_0'].map(
      (id) => `Basic ${Buffer.from(`${id}:`).toString('base64')}`,
    );
    const headers = { Authorization: basic ?? '' };
    for (const id of [{}, { client_id: app.client_id }]) {
      const code = (await app.approved(who)).get('code') ?? '';
      const fields = { redirect_uri: app.redirect_uri, code_verifier: app.verifier, code, ...id };
      const answer = await postForm(
        `${authority.url}/token`,
        { grant_type: 'authorization_code', ...fields },
        headers,
      );
      const { access_token, refresh_token } = readTokens(answer);
      const refresh = { grant_type: 'refresh_token', refresh_token, ...id };
      expect((await postForm(`${authority.url}/token`, refresh, headers)).status).toBe(200);
      expect(
        (await postForm(`${authority.url}/revoke`, { token: access_token, ...id }, headers)).status,
      ).toBe(200);
    }
    const foreign = { grant_type: 'refresh_token', refresh_token: 'x', client_id: app.client_id };
    const mixed = await postForm(`${authority.url}/token`, foreign, { Authorization: other ?? '' });
    expect([mixed.status, mixed.json.error]).toEqual([400, 'invalid_request']);
  });

  test('with a secret cannot leave it out, nor can a credential', async () => {
    const { json } = await ask({ redirect_uris, token_endpoint_auth_method: 'client_secret_basic' });
    const { canonical_handle } = await authority.agent();
    const credential = await authority.credential(canonical_handle);
    for (const id of [String(json['client_id']), credential.client_id]) {
      const headers = { Authorization: `Basic ${Buffer.from(`${id}:`).toString('base64')}` };
      for (const grant_type of ['client_credentials', 'refresh_token']) {
        const fields = { grant_type, refresh_token: 'x' };
        const answer = await postForm(`${authority.url}/token`, fields, headers);
        expect([answer.status, answer.json.error]).toEqual([401, 'invalid_client']);
      }
    }
  });
});

test.each(['/token', '/revoke'])(
  'a client that leaves during POST %s is not an internal error',
  async (path) => {
    const { client_id } = await registerApp(authority.url);
    const leaving = request(`${authority.url}${path}`, {
      method: 'POST',
      headers: {
        Authorization: `Basic ${Buffer.from(`${client_id}:`).toString('base64')}`,
        'Content-Type': 'application/x-www-form-urlencoded',
        'Content-Length': 500,
        Expect: '100-continue',
      },
    });
    const left = new Promise((resolve) => leaving.once('close', resolve));
    leaving.on('error', () => {});
    leaving.flushHeaders();
    // The server has begun with the request.
    await once(leaving, 'continue');
    leaving.destroy();
    await left;
    expect((await postForm(`${authority.url}${path}`, { client_id })).status).toBe(400);
    expect(authority.faults).toEqual([]);
  },
);
