import { expect, test } from 'vitest';
import { z } from 'zod';
import { offeredScopes } from '../../../packages/core/src/domain/auth/scopes.ts';
import { useAuthorizationServer } from './authorization-server.ts';

const authority = useAuthorizationServer();

const read = async (path: string, init: RequestInit = {}) => {
  const answer = await fetch(`${authority.url}${path}`, init);
  const json: unknown = await answer.json();
  return { status: answer.status, headers: answer.headers, json };
};

test('scopes to decide or to read for people are not offered', () => {
  expect(offeredScopes).not.toContain('approvals:write');
  expect(offeredScopes).not.toContain('conversations:read');
});

test('the metadata describes what is served, and nothing of OpenID Connect', async () => {
  const { url, resources } = authority;
  const { json } = await read('/.well-known/oauth-authorization-server');
  const inOrder = [resources.mcp, resources.api, resources.ws];
  const secrets = ['client_secret_basic', 'client_secret_post'];
  expect(json).toEqual({
    issuer: url,
    authorization_endpoint: `${url}/authorize`,
    token_endpoint: `${url}/token`,
    registration_endpoint: `${url}/register`,
    jwks_uri: `${url}/.well-known/jwks.json`,
    revocation_endpoint: `${url}/revoke`,
    introspection_endpoint: `${url}/introspect`,
    grant_types_supported: ['authorization_code', 'refresh_token', 'client_credentials'],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
    token_endpoint_auth_methods_supported: ['none', ...secrets],
    revocation_endpoint_auth_methods_supported: ['none', ...secrets],
    introspection_endpoint_auth_methods_supported: secrets,
    scopes_supported: [...offeredScopes],
    command_line_client_id: 'am',
    protected_resources: inOrder,
    resource_servers: inOrder.map((resource) => ({ resource })),
  });
});

test('clients that insert the path of a resource find the same document', async () => {
  const plain = await read('/.well-known/oauth-authorization-server');
  for (const path of ['/v1', '/mcp', '/ws']) {
    const inserted = await read(`/.well-known/oauth-authorization-server${path}`);
    expect(inserted.json).toEqual(plain.json);
  }
});

test('a forged Host changes no address', async () => {
  const http = await import('node:http');
  const body = await new Promise<string>((resolve, reject) => {
    const address = `${authority.url}/.well-known/oauth-authorization-server`;
    const request = http.get(
      address,
      { headers: { Host: 'evil.example', 'X-Forwarded-Host': 'evil.example' } },
      (answer) => {
        let text = '';
        answer.on('data', (chunk: Buffer) => {
          text += chunk.toString();
        });
        answer.on('end', () => resolve(text));
      },
    );
    request.on('error', reject);
  });
  expect(body).toContain(`"token_endpoint":"${authority.url}/token"`);
  expect(body).not.toContain('evil');
});

test('each resource describes itself', async () => {
  const { url, resources } = authority;
  const four = ['contacts:read', 'contacts:write', 'threads:read', 'threads:write'];
  const expected = {
    '/.well-known/oauth-protected-resource': [resources.mcp, four],
    '/.well-known/oauth-protected-resource/mcp': [resources.mcp, four],
    '/.well-known/oauth-protected-resource/v1': [resources.api, [...offeredScopes]],
    '/v1/.well-known/oauth-protected-resource': [resources.api, [...offeredScopes]],
    '/.well-known/oauth-protected-resource/ws': [
      resources.ws,
      ['contacts:read', 'threads:read', 'realtime:read'],
    ],
  };
  for (const [path, [resource, scopes_supported]] of Object.entries(expected)) {
    const { status, headers, json } = await read(path);
    expect(status).toBe(200);
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(json).toEqual({
      resource,
      authorization_servers: [url],
      scopes_supported,
      bearer_methods_supported: ['header'],
    });
  }
});

test('the published keys have only public parts', async () => {
  const { json } = await read('/.well-known/jwks.json');
  const { keys } = z.object({ keys: z.array(z.record(z.string(), z.unknown())) }).parse(json);
  expect(keys).toEqual([
    expect.objectContaining({ kty: 'EC', crv: 'P-256', alg: 'ES256', use: 'sig', kid: expect.any(String) }),
  ]);
  expect(keys[0]).not.toHaveProperty('d');
});

test('there is no OpenID configuration', async () => {
  for (const path of ['/.well-known/openid-configuration', '/.well-known/openid-configuration/mcp']) {
    const { status, headers, json } = await read(path);
    expect(status).toBe(404);
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(json).toMatchObject({ error: { code: 'NOT_FOUND', request_id: expect.any(String) } });
  }
});

test('scripts of any origin can read the documents and request tokens', async () => {
  const asking = { Origin: 'https://app.example', 'Access-Control-Request-Headers': 'mcp-protocol-version' };
  for (const [path, method] of [
    ['/.well-known/oauth-authorization-server', 'GET'],
    ['/.well-known/oauth-authorization-server/mcp', 'GET'],
    ['/.well-known/oauth-protected-resource/mcp', 'GET'],
    ['/.well-known/jwks.json', 'GET'],
    ['/token', 'POST'],
    ['/register', 'POST'],
    ['/revoke', 'POST'],
  ] as const) {
    const headers = { ...asking, 'Access-Control-Request-Method': method };
    const answer = await fetch(`${authority.url}${path}`, { method: 'OPTIONS', headers });
    expect(answer.status).toBe(204);
    expect(['*', 'https://app.example']).toContain(answer.headers.get('access-control-allow-origin'));
    expect(answer.headers.get('access-control-allow-methods')).toContain(method);
    expect(answer.headers.get('access-control-allow-headers')).toBe('mcp-protocol-version');
  }
});
