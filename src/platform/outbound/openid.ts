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

export interface OpenIdClient {
  /** The `issuer` of its metadata. Plain http is for issuers on this machine. */
  issuer: string;
  client_id: string;
  /** Without a secret the service is a public client and relies on PKCE. */
  client_secret: string | undefined;
}

export interface OpenIdSettings extends OpenIdClient {
  /** The address to which the issuer redirects the browser. */
  redirect_uri: string;
  log: ErrorLog;
}

/** The state to keep between the request and the response. The verifier is secret. */
export interface OpenIdState {
  issuer: string;
  state: string;
  nonce: string;
  code_verifier: string;
}

/** Why a sign-in failed: the person declined, the issuer did not respond, or its response is invalid. */
export type OpenIdFailure = 'declined' | 'unavailable' | 'invalid';

/** The identity of a person at the issuer. Only issuer and subject together are unique and permanent (OpenID Connect Core, section 5.7). */
export interface OpenIdIdentity {
  issuer: string;
  subject: string;
  suggested_username: string | null;
}

const timeoutSeconds = 10;
const metadataTtlMs = 3_600_000;
const maxSubjectLength = 255;

/**
 * Sign-in through one OpenID Connect issuer: authorization code with PKCE, state and nonce. Checks the `iss` of the response, and the
 * signature, issuer and audience of the ID token. The issuer's metadata is loaded when first needed, and again every hour.
 */
export function createOpenIdClient(settings: OpenIdSettings) {
  const { issuer, redirect_uri, log } = settings;
  let cached: { configuration: Promise<Configuration>; until: number } | undefined;

  function configuration(): Promise<Configuration> {
    if (cached && Date.now() < cached.until) return cached.configuration;
    const discovered = discover(settings);
    const entry = { configuration: discovered, until: Date.now() + metadataTtlMs };
    cached = entry;
    // A failed discovery is repeated by the next call.
    discovered.catch(() => {
      if (cached === entry) cached = undefined;
    });
    return discovered;
  }

  return {
    /** The address for the browser, and the state to keep; undefined when the issuer does not respond. */
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
        log('cannot load the metadata of the OpenID Connect issuer', error);
        return undefined;
      }
    },

    /** Verifies the response of the issuer, in the query, against the state. */
    async finish(
      query: string,
      state: OpenIdState,
    ): Promise<{ identity: OpenIdIdentity } | { failure: OpenIdFailure }> {
      // The settings have changed since: the response of one issuer must not count for another.
      if (state.issuer !== issuer) return { failure: 'invalid' };
      try {
        // The configured address: the Host of the request is not trusted.
        const response = new URL(`${redirect_uri}?${query}`);
        const tokens = await authorizationCodeGrant(await configuration(), response, {
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
        if (failure !== 'declined') log('sign-in through the OpenID Connect issuer failed', error);
        return { failure };
      }
    },
  };
}

/** Loads the metadata of an issuer. @throws {Error} if it does not respond, or is another issuer */
export function discover({ issuer, client_id, client_secret }: OpenIdClient): Promise<Configuration> {
  const insecure = issuer.startsWith('http:') ? [allowInsecureRequests] : [];
  const authentication = client_secret === undefined ? None() : secretAuthentication(client_secret);
  return discovery(new URL(issuer), client_id, undefined, authentication, {
    execute: [enableNonRepudiationChecks, ...insecure],
    timeout: timeoutSeconds,
  });
}

/** HTTP Basic, the default (OpenID Connect Discovery, section 3), unless the issuer accepts the secret only in the body. */
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
    const hasResponded = error.cause instanceof Response && error.cause.status < 500;
    const isOutage = error.code === 'OAUTH_TIMEOUT' || error.code === 'OAUTH_RESPONSE_IS_NOT_CONFORM';
    return isOutage && !hasResponded ? 'unavailable' : 'invalid';
  }
  // Without a response fetch throws this TypeError.
  return error instanceof TypeError && error.message === 'fetch failed' ? 'unavailable' : 'invalid';
}

/** Lone surrogates would all be stored as the same character, so different subjects could become one person. */
function isStorableSubject(subject: string): boolean {
  if (subject === '' || subject.length > maxSubjectLength) return false;
  return !subject.includes('\0') && subject.isWellFormed();
}

/** A valid username made from the name at the issuer; null when there is none. */
function suggestUsername(claims: Record<string, unknown>): string | null {
  const claim = [claims['preferred_username'], claims['nickname']].find((value) => typeof value === 'string');
  const name = (typeof claim === 'string' ? claim : '')
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
