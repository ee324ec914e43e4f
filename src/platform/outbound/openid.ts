import {
  allowInsecureRequests,
  authorizationCodeGrant,
  AuthorizationResponseError,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  type ClientAuth,
  ClientError,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  discovery,
  enableNonRepudiationChecks,
  None,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client';
import type { ErrorLog } from '../../shared/error-log.ts';

export interface OpenIdSettings {
  /** As its metadata names itself. Plain http is for issuers on this machine. */
  issuer: string;
  client_id: string;
  /** Without one we are a public client, held by PKCE alone. */
  client_secret: string | undefined;
  /** Where the issuer sends the browser back to. */
  redirect_uri: string;
  log: ErrorLog;
}

/** What must be remembered between the way there and the way back; nobody else may learn the verifier. */
export interface OpenIdState {
  issuer: string;
  state: string;
  nonce: string;
  code_verifier: string;
}

/** Why somebody came back without a proof: they said no, the issuer does not answer, or what came is not what was asked for. */
export type OpenIdFailure = 'declined' | 'unavailable' | 'invalid';

/** Who somebody is at the issuer. Only issuer and subject together name them, and for good (OpenID Connect Core, section 5.7). */
export interface OpenIdIdentity {
  issuer: string;
  subject: string;
  suggested_username: string | null;
}

const timeoutSeconds = 10;
const metadataTtlMs = 3_600_000;
const maxSubjectLength = 255;

/**
 * Sign-in through one OpenID Connect issuer: authorization code with PKCE, state and nonce; the answer's `iss`, and signature, issuer
 * and audience of the ID token are checked. What the issuer says of itself is asked for when first needed, and again every hour.
 */
export function createOpenIdClient(settings: OpenIdSettings) {
  const { issuer, redirect_uri, log } = settings;
  let known: { configuration: Promise<Configuration>; until: number } | undefined;

  function configuration(): Promise<Configuration> {
    if (known && Date.now() < known.until) return known.configuration;
    const asked = discover(settings);
    const entry = { configuration: asked, until: Date.now() + metadataTtlMs };
    known = entry;
    // What failed is asked for again.
    asked.catch(() => {
      if (known === entry) known = undefined;
    });
    return asked;
  }

  return {
    /** The address to send a browser to, and what to remember of it; undefined when the issuer does not answer. */
    async start(): Promise<{ address: string; state: OpenIdState } | undefined> {
      try {
        const config = await configuration();
        const secrets = {
          state: randomState(),
          nonce: randomNonce(),
          code_verifier: randomPKCECodeVerifier(),
        };
        const { state, nonce, code_verifier } = secrets;
        const address = buildAuthorizationUrl(config, {
          redirect_uri,
          scope: 'openid profile',
          state,
          nonce,
          code_challenge: await calculatePKCECodeChallenge(code_verifier),
          code_challenge_method: 'S256',
        });
        return { address: address.href, state: { issuer, ...secrets } };
      } catch (error) {
        log('the OpenID Connect issuer does not answer as one', error);
        return undefined;
      }
    },

    /** Who came back with this query, against what was remembered. */
    async finish(
      query: string,
      state: OpenIdState,
    ): Promise<{ identity: OpenIdIdentity } | { failure: OpenIdFailure }> {
      // The settings changed meanwhile: an answer of one issuer must not count as one of another.
      if (state.issuer !== issuer) return { failure: 'invalid' };
      try {
        // Our own address, not the one that the request claims to be for.
        const answer = new URL(`${redirect_uri}?${query}`);
        const tokens = await authorizationCodeGrant(await configuration(), answer, {
          expectedState: state.state,
          expectedNonce: state.nonce,
          pkceCodeVerifier: state.code_verifier,
          idTokenExpected: true,
        });
        const claims = tokens.claims();
        const subject = claims?.sub ?? '';
        if (!isStorableSubject(subject)) return { failure: 'invalid' };
        return { identity: { issuer, subject, suggested_username: suggestUsername(claims ?? {}) } };
      } catch (error) {
        const failure = toFailure(error);
        if (failure !== 'declined') log('a sign-in through the OpenID Connect issuer failed', error);
        return { failure };
      }
    },
  };
}

function discover({ issuer, client_id, client_secret }: OpenIdSettings): Promise<Configuration> {
  const insecure = issuer.startsWith('http:') ? [allowInsecureRequests] : [];
  const authentication = client_secret === undefined ? None() : secretAuthentication(client_secret);
  return discovery(new URL(issuer), client_id, undefined, authentication, {
    execute: [enableNonRepudiationChecks, ...insecure],
    timeout: timeoutSeconds,
  });
}

/** HTTP Basic, which every issuer knows unless it says otherwise (OpenID Connect Discovery, section 3); else in the body. */
function secretAuthentication(secret: string): ClientAuth {
  const [basic, post] = [ClientSecretBasic(secret), ClientSecretPost(secret)];
  return (server, ...request) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const authenticate = methods.includes('client_secret_basic') ? basic : post;
    authenticate(server, ...request);
  };
}

const declinedErrors = new Set([
  'access_denied',
  'login_required',
  'consent_required',
  'interaction_required',
]);
const temporaryErrors = new Set(['temporarily_unavailable', 'server_error']);

function toFailure(error: unknown): OpenIdFailure {
  if (error instanceof AuthorizationResponseError) {
    if (declinedErrors.has(error.error)) return 'declined';
    return temporaryErrors.has(error.error) ? 'unavailable' : 'invalid';
  }
  if (error instanceof ClientError) {
    const answered = error.cause instanceof Response && error.cause.status < 500;
    const outage = error.code === 'OAUTH_TIMEOUT' || error.code === 'OAUTH_RESPONSE_IS_NOT_CONFORM';
    return outage && !answered ? 'unavailable' : 'invalid';
  }
  // fetch fails with a TypeError and nothing else when there is no answer.
  return error instanceof TypeError && error.message === 'fetch failed' ? 'unavailable' : 'invalid';
}

/** Halves of characters would all be kept as the same one, and so be the same person. */
function isStorableSubject(subject: string): boolean {
  if (subject === '' || subject.length > maxSubjectLength) return false;
  return !subject.includes('\0') && subject.isWellFormed();
}

/** What somebody is called there, as far as it can be a name here. */
function suggestUsername(claims: Record<string, unknown>): string | null {
  const called = [claims['preferred_username'], claims['nickname']].find(
    (claim) => typeof claim === 'string',
  );
  const name = (typeof called === 'string' ? called : '')
    .slice(0, 200)
    .replace(/@.*$/s, '')
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9_-]+/g, '-')
    .slice(0, 32)
    .replaceAll(/^[-_]+|[-_]+$/g, '');
  return name === '' ? null : name;
}
