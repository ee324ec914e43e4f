import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listen } from './listen.ts';

type Claims = Record<string, unknown>;

/** What an issuer that is up to something does differently. */
export interface Forgery {
  /** Claims over the honest ones; undefined leaves one out. */
  claims?: Claims;
  /** Parameters over the honest ones of the way back. */
  answer?: Record<string, string | undefined>;
  /** Signs with a key that is not published. */
  signWithOtherKey?: boolean;
  /** No signature at all. */
  unsigned?: boolean;
  /** In place of the answer to the code. */
  token?: { status: number; body: string; type?: string };
  /** Neither names itself on the way back nor says that it would: older than RFC 9207. */
  omitKeyId?: boolean;
  /** In place of its metadata. */
  metadata?: { status: number; body: string };
}

const key = () => generateKeyPairSync('rsa', { modulusLength: 2048 });
const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** An OpenID Connect issuer that signs everybody in as `subject-1` at once, honestly unless `forge` says otherwise. */
export async function startForgedIssuer(client_id: string) {
  const server = createServer();
  const { url, close } = await listen(server);
  const [published, hidden] = [key(), key()];
  const codes = new Map<string, { nonce: string; challenge: string }>();
  const tokenCalls: URLSearchParams[] = [];
  let forgery: Forgery = {};
  let count = 0;

  const metadata = {
    issuer: url,
    authorization_endpoint: `${url}/authorize`,
    token_endpoint: `${url}/token`,
    jwks_uri: `${url}/jwks`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
  };

  function idToken(nonce: string): string {
    const now = Math.floor(Date.now() / 1000);
    const honest = { iss: url, aud: client_id, sub: 'subject-1', nonce, iat: now, exp: now + 60 };
    const header = { alg: forgery.unsigned ? 'none' : 'RS256', kid: 'k1' };
    const text = `${encoded(header)}.${encoded({ ...honest, ...forgery.claims })}`;
    const { privateKey } = forgery.signWithOtherKey ? hidden : published;
    return `${text}.${forgery.unsigned ? '' : sign('sha256', Buffer.from(text), privateKey).toString('base64url')}`;
  }

  function token(form: URLSearchParams): { status: number; body: string; type?: string } {
    tokenCalls.push(form);
    if (forgery.token) return forgery.token;
    const code = codes.get(form.get('code') ?? '');
    codes.delete(form.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (!code || code.challenge !== challenge) return { status: 400, body: '{"error":"invalid_grant"}' };
    const body = { access_token: 'at', token_type: 'bearer', expires_in: 60, id_token: idToken(code.nonce) };
    return { status: 200, body: JSON.stringify(body) };
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', url);
    const json = (status: number, body: string, type = 'application/json') =>
      void response.writeHead(status, { 'Content-Type': type }).end(body);
    if (pathname === '/.well-known/openid-configuration') {
      const named = { authorization_response_iss_parameter_supported: !forgery.omitKeyId };
      const own = JSON.stringify({ ...metadata, ...named });
      return json(forgery.metadata?.status ?? 200, forgery.metadata?.body ?? own);
    }
    if (pathname === '/jwks') {
      const jwk = { ...published.publicKey.export({ format: 'jwk' }), kid: 'k1', use: 'sig', alg: 'RS256' };
      return json(200, JSON.stringify({ keys: [jwk] }));
    }
    if (pathname === '/authorize') {
      const code = `code-${(count += 1)}`;
      const [nonce, challenge] = [searchParams.get('nonce') ?? '', searchParams.get('code_challenge') ?? ''];
      codes.set(code, { nonce, challenge });
      const iss = forgery.omitKeyId ? undefined : url;
      const honest = { code, state: searchParams.get('state') ?? '', iss };
      const claims = Object.entries({ ...honest, ...forgery.answer }).flatMap(
        ([name, value]): [string, string][] => (value === undefined ? [] : [[name, value]]),
      );
      const back = new URL(searchParams.get('redirect_uri') ?? '');
      back.search = new URLSearchParams(claims).toString();
      return void response.writeHead(302, { Location: back.href }).end();
    }
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const result = token(new URLSearchParams(body));
    json(result.status, result.body, result.type);
  }

  server.on('request', (request, response) => void answer(request, response));
  return {
    url,
    /** Forms that came to the token endpoint. */
    tokenCalls,
    forge(next: Forgery): void {
      forgery = next;
    },
    stop: close,
  };
}
