import type { Readable, Writable } from 'node:stream';
import open from 'open';
import { browserCredential } from './browser-credential.ts';
import type { Credential } from './credential.ts';
import { reasonOf } from './failures.ts';
import { clientCredentials, readyToken } from './fixed-credentials.ts';
import { configFolder, keptSignIn } from './kept-sign-in.ts';
import { createLink } from './link.ts';
import { post } from './post.ts';
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
  patience: number;
}

export interface BridgeIo {
  env: Record<string, string | undefined>;
  input: Readable;
  output: Writable;
  log(line: string): void;
  interrupted: AbortSignal;
}

/** For what is not a call of the service: metadata, tokens, registration. */
const oauthPatience_ms = 20_000;

/**
 * The bridge between a client that speaks MCP over standard input and output and the tool server. Resolves when the client has
 * closed its end, or at the interruption.
 */
export async function runBridge(options: BridgeOptions, io: BridgeIo): Promise<void> {
  const { address, patience } = options;
  const { input, output, log, interrupted } = io;
  const fetchWithToken = createServiceFetch(credentialOf(options, io), fetch);
  await relay({
    input,
    output,
    address,
    log,
    interrupted,
    linkTo: (hear) =>
      createLink({ address, fetch: fetchWithToken, patience_ms: patience * 1_000, hear, log }),
  });
}

/** Signs in, or finds that the sign-in still holds. @throws {SignInError}; what keeps the service from answering. */
export async function signInOnce(options: BridgeOptions, io: BridgeIo): Promise<void> {
  const { address } = options;
  const session = { id: undefined, version: undefined };
  const serviceFetch = createServiceFetch(credentialOf(options, io), fetch);
  const posting = { address, fetch: serviceFetch, session, hear() {}, signal: io.interrupted };
  await post({ jsonrpc: '2.0', id: 1, method: 'ping' }, posting);
}

/** From the environment, in the order of how much a person has to do with it: a token, a credential, nothing. */
function credentialOf({ address, profile, opens_browser }: BridgeOptions, io: BridgeIo): Credential {
  const { env, log, interrupted } = io;
  const { AMS_TOKEN, AMS_CLIENT_ID, AMS_CLIENT_SECRET, AMS_SCOPES } = env;
  if (AMS_TOKEN) return readyToken(AMS_TOKEN, address);
  const fetchFn: typeof fetch = (url, init) =>
    fetch(url, { ...init, signal: AbortSignal.any([interrupted, AbortSignal.timeout(oauthPatience_ms)]) });
  if (AMS_CLIENT_ID && AMS_CLIENT_SECRET) {
    const issuer = address.href.replace(/\/mcp$/, '');
    const credential = { client_id: AMS_CLIENT_ID, client_secret: AMS_CLIENT_SECRET, scopes: AMS_SCOPES };
    return clientCredentials(credential, { address, issuer, fetchFn });
  }
  const kept = keptSignIn(configFolder(env, process.platform), address, profile);
  async function show(page: URL): Promise<void> {
    log(`sign in here: ${page.href}`);
    if (!opens_browser) return;
    const none = (error: unknown) => log(`no browser could be opened (${reasonOf(error)})`);
    const browser = await open(page.href).catch(none);
    browser?.on('error', none);
  }
  return browserCredential({ address, kept, fetchFn, show, log, signal: interrupted });
}
