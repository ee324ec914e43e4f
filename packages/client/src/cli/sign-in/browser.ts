import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  ClientError,
  type Configuration,
  discovery,
  None,
  randomPKCECodeVerifier,
  randomState,
  ResponseBodyError,
} from 'openid-client';
import { SignInError } from '../../bridge/errors.ts';
import { openRedirectServer, type RedirectServer } from '../../bridge/redirect-server.ts';
import { createConnectionError } from '../../errors.ts';
import type { StoredSignIn } from '../../node/main.ts';
import { CommandError, exitCodes } from '../exit-codes.ts';
import type { CommandIo } from '../io.ts';

export interface BrowserSignIn {
  url: string;
  scopes: string;
  opensBrowser: boolean;
  /** A registered client; without one, it is that of the command line. */
  clientId?: string;
}

/**
 * Signs a person in: authorization code with PKCE and a redirect to the loopback interface (OAuth 2.1, RFC 8252).
 * @throws {CommandError} when the sign-in fails or takes more than five minutes
 */
export async function signInWithBrowser(io: CommandIo, options: BrowserSignIn): Promise<StoredSignIn> {
  const redirect = await openRedirectServer();
  try {
    const config = await findClient(options);
    return await runFlow(io, options, config, redirect);
  } catch (error) {
    // The failure of fetch.
    if (error instanceof TypeError && error.cause !== undefined)
      throw createConnectionError(error, options.url);
    if (error instanceof SignInError) throw new CommandError(error.message, exitCodes.signIn);
    if (!(error instanceof ClientError || error instanceof ResponseBodyError)) throw error;
    const reason =
      error instanceof ResponseBodyError ? (error.error_description ?? error.error) : error.message;
    throw new CommandError(`the sign-in at ${options.url} failed: ${reason}`, exitCodes.signIn);
  } finally {
    redirect.close();
  }
}

/** Plain HTTP is for the own machine and for networks of which the person knows. */
function discoveryOptions({ url }: BrowserSignIn) {
  const execute = url.startsWith('http:') ? { execute: [allowInsecureRequests] } : {};
  return { algorithm: 'oauth2' as const, ...execute };
}

/** The client that every service knows without a registration. */
const ownClientId = 'am';

function findClient(options: BrowserSignIn): Promise<Configuration> {
  const clientId = options.clientId ?? ownClientId;
  return discovery(new URL(options.url), clientId, undefined, None(), discoveryOptions(options));
}

async function runFlow(
  io: CommandIo,
  { url, scopes, opensBrowser }: BrowserSignIn,
  config: Configuration,
  redirect: RedirectServer,
): Promise<StoredSignIn> {
  const verifier = randomPKCECodeVerifier();
  const state = randomState();
  const page = buildAuthorizationUrl(config, {
    redirect_uri: redirect.url,
    response_type: 'code',
    scope: scopes,
    resource: `${url}/v1`,
    code_challenge: await calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
  });
  const { issuer } = config.serverMetadata();
  // Before the page opens: a person who is signed in comes back at once.
  const answer = redirect.waitForCode({ state, issuer: () => issuer }, io.interruptSignal());
  answer.catch(() => undefined); // awaited below
  io.log(`Sign in here: ${page.href}\n`);
  if (opensBrowser) await io.openPage(page.href).catch(() => io.log('The browser could not be opened.\n'));
  const code = await answer;
  const answered = new URL(redirect.url);
  answered.search = new URLSearchParams({ code, state, iss: issuer }).toString();
  const tokens = await authorizationCodeGrant(config, answered, {
    pkceCodeVerifier: verifier,
    expectedState: state,
  });
  return {
    url,
    client_id: config.clientMetadata().client_id,
    access_token: tokens.access_token,
    ...(tokens.refresh_token !== undefined && { refresh_token: tokens.refresh_token }),
    expires_at: Date.now() + (tokens.expires_in ?? 0) * 1_000,
  };
}
