import open from 'open';
import type { Readable, Writable } from 'node:stream';
import { createBrowserCredential } from './browser-credential.ts';
import { type Credential, createClientCredential, createTokenCredential } from './credentials.ts';
import { errorReason } from './errors.ts';
import { configFolder, openSavedSignIn } from './saved-sign-in.ts';
import { createServiceConnection } from './service-connection.ts';
import { postMessage } from './post.ts';
import { relay } from './relay.ts';
import { createServiceFetch } from './service-fetch.ts';

export interface BridgeOptions {
  /** Of the tool server. */
  address: URL;
  /** Keeps several sign-ins at one service apart. */
  profile: string;
  /** Whether a browser may be opened; its address is printed in any case. */
  opens_browser: boolean;
  /** How long a message is tried for while the service is away, in seconds. */
  timeout_seconds: number;
}

export interface BridgeIo {
  env: Record<string, string | undefined>;
  input: Readable;
  output: Writable;
  log(line: string): void;
  interrupted: AbortSignal;
}

/** For what is not a call of the service: metadata, tokens, registration. */
const oauthTimeoutMs = 20_000;

/**
 * The bridge between a client that speaks MCP over standard input and output and the tool server. Resolves when the client has
 * closed its end, or at the interruption.
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

/** Signs in, or finds that the sign-in still holds. @throws {SignInError}; what keeps the service from answering. */
export async function signInOnce(options: BridgeOptions, io: BridgeIo): Promise<void> {
  const { address } = options;
  const session = { id: undefined, version: undefined };
  const serviceFetch = createServiceFetch(selectCredential(options, io), fetch);
  const posting = { address, fetch: serviceFetch, session, onMessage() {}, signal: io.interrupted };
  await postMessage({ jsonrpc: '2.0', id: 1, method: 'ping' }, posting);
}

/** From the environment, in the order of how much a person has to do with it: a token, a credential, nothing. */
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
    const none = (error: unknown) => log(`no browser could be opened (${errorReason(error)})`);
    const browser = await open(page.href).catch(none);
    browser?.on('error', none);
  }
  return createBrowserCredential({ address, savedSignIn, fetchFn, openPage, log, signal: interrupted });
}
