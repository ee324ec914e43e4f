/** A sign-in that is refused, with the answer. */
export interface RefusedDocument {
  what: string;
  redirect_uris: readonly string[];
  /** Other members of the registration. */
  metadata?: Record<string, unknown>;
  /** Over the parameters of a right authorization request; null leaves one out. */
  request?: Record<string, string | null>;
  /** Over the fields of a right token request. */
  exchange?: Record<string, string>;
  /** The step that refuses. At `page` the person is told, because the app cannot be. */
  at: 'register' | 'authorize' | 'page' | 'token';
  error: string;
  /** In the description, or on the page. */
  says: RegExp;
}

const good = ['https://app.example/callback'];
const schemes = [
  'javascript:alert(1)',
  'data:text/html,x',
  'file:///etc/passwd',
  'blob:https://app.example/x',
];

export const refusedDocuments: readonly RefusedDocument[] = [
  ...[...schemes, 'vbscript:x', 'ms-settings:network', 'mailto:a@app.example'].map((address) => ({
    what: `the scheme of ${address}`,
    redirect_uris: [address],
    at: 'register' as const,
    error: 'invalid_redirect_uri',
    says: /^redirect_uris cannot use the scheme [\w-]+: use https or the scheme of an app$/,
  })),
  ...[
    ['http of another host', 'http://app.example/callback'],
    ['LibreChat in a local network without TLS', 'http://192.168.1.20:3080/api/mcp/messages/oauth/callback'],
    ['n8n in a local network without TLS', 'http://n8n.lan:5678/rest/oauth2-credential/callback'],
  ].map(([what = '', address = '']) => ({
    what,
    redirect_uris: [address],
    at: 'register' as const,
    error: 'invalid_redirect_uri',
    says: /can use http only for 127\.0\.0\.1, \[::1\] and localhost, because others could read the code .*; use https:\/\//,
  })),
  ...[
    'https:foo',
    'https:///foo/cb',
    'http:127.0.0.1',
    'https://app.example:0/',
    'https://app.example\\@evil',
  ].map((address) => ({
    what: `${address}, which a parser would repair`,
    redirect_uris: [address],
    at: 'register' as const,
    error: 'invalid_redirect_uri',
    says: /^redirect_uris must /,
  })),
  {
    what: 'only the implicit flow',
    redirect_uris: good,
    metadata: { response_types: ['token'], grant_types: ['implicit'] },
    at: 'register',
    error: 'invalid_client_metadata',
    says: /response_types must include code/,
  },
  {
    what: 'client credentials for an app',
    redirect_uris: good,
    metadata: { grant_types: ['client_credentials'] },
    at: 'register',
    error: 'invalid_client_metadata',
    says: /console/,
  },
  {
    what: '127.0.0.1 in place of the registered localhost',
    redirect_uris: ['http://localhost:4000/callback'],
    request: { redirect_uri: 'http://127.0.0.1:4000/callback' },
    at: 'page',
    error: 'invalid_redirect_uri',
    says: /address that it has not registered/,
  },
  ...(
    [
      [{ code_challenge_method: 'plain' }, 'PKCE plain'],
      [{ code_challenge_method: null }, 'PKCE without a method'],
      [{ code_challenge_method: null, code_challenge: null }, 'no PKCE'],
    ] as const
  ).map(([request, what]) => ({
    what,
    redirect_uris: good,
    request,
    at: 'authorize' as const,
    error: 'invalid_request',
    says: /PKCE|code_challenge/,
  })),
  {
    what: 'the resource of another service',
    redirect_uris: good,
    request: { resource: 'https://elsewhere.example/mcp' },
    at: 'authorize',
    error: 'invalid_target',
    says: /resource must be one of \S+\/mcp /,
  },
  {
    what: 'prompt=none',
    redirect_uris: good,
    request: { prompt: 'none' },
    at: 'authorize',
    error: 'login_required',
    says: /./,
  },
  {
    what: 'form_post',
    redirect_uris: good,
    request: { response_mode: 'form_post' },
    at: 'authorize',
    error: 'unsupported_response_mode',
    says: /./,
  },
  {
    what: 'a wrong code verifier',
    redirect_uris: good,
    exchange: { code_verifier: 'x'.repeat(43) },
    at: 'token',
    error: 'invalid_grant',
    says: /./,
  },
];
