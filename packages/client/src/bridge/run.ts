import open from 'open';
import type { Readable, Writable } from 'node:stream';
import { createBrowserCredential } from './browser-credential.ts';
import { type Credential, createClientCredential, createTokenCredential } from './credentials.ts';
import { errorReason } from './errors.ts';
import { configFolder } from '../node/config-folder.ts';
import { openSavedSignIn } from './saved-sign-in.ts';
import { createServiceConnection } from './service-connection.ts';
import { postMessage } from './post.ts';
import { relay } from './relay.ts';
import { createServiceFetch } from './service-fetch.ts';

export interface BridgeOptions {
  /** URL of the MCP server. */
  address: URL;
  /** Separates several saved sign-ins for one service. */
  profile: string;
  /** Whether to open a browser; the sign-in URL is logged in any case. */
  opens_browser: boolean;
  /** How long a message is retried while the service is unavailable, in seconds. */
  timeout_seconds: number;
}

export interface BridgeIo {
  env: Record<string, string | undefined>;
  input: Readable;
  output: Writable;
  log(text: string): void;
  interrupted: AbortSignal;
}

/** Timeout of requests for metadata, tokens and client registration. */
const oauthTimeoutMs = 20_000;

/**
 * Runs the bridge between an MCP client at standard input and output and the MCP server. Resolves when the client closes its end or the
 * process is interrupted.
 */
export async function runBridge(options: BridgeOptions, io: BridgeIo): Promise<void> {
  const { address, timeout_seconds } = options;
  const { input, output, log, interrupted } = io;
  const fetchWithToken = createServiceFetch(selectCredential(options, io), fetch);
  await relay({
    input,
    output,
    address,
    log,
    interrupted,
    connect: (onMessage) =>
      createServiceConnection({
        address,
        fetch: fetchWithToken,
        timeout_ms: timeout_seconds * 1_000,
        onMessage,
        log,
      }),
  });
}

/** Signs in unless the saved sign-in is valid. @throws {SignInError}; errors of the request to the service */
export async function signInOnce(bridge: BridgeOptions, io: BridgeIo): Promise<void> {
  const { address } = bridge;
  const session = { id: undefined, version: undefined };
  const serviceFetch = createServiceFetch(selectCredential(bridge, io), fetch);
  const options = { address, fetch: serviceFetch, session, onMessage() {}, signal: io.interrupted };
  await postMessage({ jsonrpc: '2.0', id: 1, method: 'ping' }, options);
}

/** Selects the credential from the environment: a token, a client credential, otherwise a sign-in with a browser. */
function selectCredential({ address, profile, opens_browser }: BridgeOptions, io: BridgeIo): Credential {
  const { env, log, interrupted } = io;
  const { AMS_TOKEN, AMS_CLIENT_ID, AMS_CLIENT_SECRET, AMS_SCOPES } = env;
  if (AMS_TOKEN) return createTokenCredential(AMS_TOKEN, address);
  const fetchFn: typeof fetch = (url, init) =>
    fetch(url, { ...init, signal: AbortSignal.any([interrupted, AbortSignal.timeout(oauthTimeoutMs)]) });
  if (AMS_CLIENT_ID && AMS_CLIENT_SECRET) {
    const issuer = address.href.replace(/\/mcp$/, '');
    const credential = { client_id: AMS_CLIENT_ID, client_secret: AMS_CLIENT_SECRET, scopes: AMS_SCOPES };
    return createClientCredential(credential, { address, issuer, fetchFn });
  }
  const savedSignIn = openSavedSignIn(configFolder(env, process.platform), address, profile);
  async function openPage(page: URL): Promise<void> {
    log(`sign in here: ${page.href}`);
    if (!opens_browser) return;
    const onError = (error: unknown) => log(`the browser could not be opened (${errorReason(error)})`);
    const browser = await open(page.href).catch(onError);
    browser?.on('error', onError);
  }
  return createBrowserCredential({ address, savedSignIn, fetchFn, openPage, log, signal: interrupted });
}
