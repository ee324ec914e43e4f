import { createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { findForm, openFormBrowser, type PageResponse, type FormBrowser } from '../form-browser.ts';
import { password, postForm } from '../../integration/oauth/authorization-server.ts';

const registered = z.looseObject({
  client_id: z.string(),
  redirect_uris: z.array(z.string()),
});

const tokens = z.looseObject({
  access_token: z.string(),
  refresh_token: z.string(),
  expires_in: z.int(),
  scope: z.string(),
  token_type: z.literal('Bearer'),
});

export type Tokens = z.infer<typeof tokens>;

/** A code verifier and its challenge (RFC 7636). */
export function createPkcePair(): { verifier: string; challenge: string } {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

/** Registers a client (RFC 7591), however the answer is. */
export async function register(url: string, metadata: unknown, headers: Record<string, string> = {}) {
  const answer = await fetch(`${url}/register`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: typeof metadata === 'string' ? metadata : JSON.stringify(metadata),
  });
  const json = z.record(z.string(), z.unknown()).parse(await answer.json());
  return { status: answer.status, headers: answer.headers, json };
}

export interface Consenting {
  username: string;
  agent: { id: string };
}

/** A client that people connect, as its program behaves. */
export async function registerApp(
  url: string,
  metadata: object = { client_name: 'An app', redirect_uris: ['http://127.0.0.1/callback'] },
) {
  const { json } = await register(url, metadata);
  const { client_id, redirect_uris } = registered.parse(json);
  return createApp(url, client_id, redirect_uris[0] ?? '');
}

export type OAuthApp = Awaited<ReturnType<typeof registerApp>>;

/** The same of a client that is known already. */
export function createApp(url: string, client_id: string, redirect_uri: string, pair = createPkcePair()) {
  const { verifier, challenge } = pair;
  const state = randomBytes(8).toString('hex');

  /** The address to which the app sends a browser; `null` leaves a parameter out. */
  function address(over: Record<string, string | string[] | null> = {}): string {
    const params = {
      client_id,
      redirect_uri,
      response_type: 'code',
      code_challenge: challenge,
      code_challenge_method: 'S256',
      state,
      scope: 'contacts:read contacts:write threads:read threads:write',
      ...over,
    };
    const pairs = Object.entries(params).flatMap(([name, value]) =>
      [value ?? []].flat().map((one): [string, string] => [name, one]),
    );
    return `${url}/authorize?${new URLSearchParams(pairs).toString()}`;
  }

  /** A person goes through the request and approves it; answers what the app is told at its redirect address. */
  async function approve(
    who: Consenting,
    over: Record<string, string | string[] | null> = {},
    browser: FormBrowser = openFormBrowser(url),
  ): Promise<URLSearchParams> {
    const page = await openConsentPage(browser, address(over), who);
    return readRedirectParams(await submitConsent(browser, page, 'approve', who.agent.id));
  }

  async function exchange(code: string, over: Record<string, string | string[]> = {}) {
    const fields = {
      grant_type: 'authorization_code',
      code,
      redirect_uri,
      client_id,
      code_verifier: verifier,
    };
    return postForm(`${url}/token`, { ...fields, ...over });
  }

  async function refresh(refresh_token: string, over: Record<string, string | string[]> = {}) {
    return postForm(`${url}/token`, { grant_type: 'refresh_token', refresh_token, client_id, ...over });
  }

  return {
    client_id,
    redirect_uri,
    state,
    pair,
    verifier,
    address,
    approved: approve,
    exchange,
    refresh,
    /** From the request to the first tokens. */
    async connect(
      who: Consenting,
      over: Record<string, string | string[] | null> = {},
      exchanged: Record<string, string> = {},
    ): Promise<Tokens> {
      const answer = await approve(who, over);
      const override = over['redirect_uri'];
      const redirect = typeof override === 'string' ? { redirect_uri: override } : {};
      return readTokens(await exchange(answer.get('code') ?? '', { ...redirect, ...exchanged }));
    },
    revoke: (token: string) => postForm(`${url}/revoke`, { token, client_id }),
  };
}

/**
 * Follows an app's address to the consent page, and signs in on the way if need be. `origin` is the address of the service where
 * that is another than its place.
 */
export async function openConsentPage(
  browser: FormBrowser,
  address: string,
  { username }: Pick<Consenting, 'username'>,
  origin?: string,
): Promise<PageResponse> {
  const page = await browser.go(address);
  if (new URL(page.url).pathname !== '/sign-in') return page;
  const headers = origin ? { headers: { Origin: origin } } : {};
  return browser.send(findForm(page), { fields: { username, password }, ...headers });
}

/** What the consent page for an app's address is made of, and where it is. */
export async function readShownRequest(browser: FormBrowser, address: string) {
  const sent = await browser.go(address, { follow: false });
  const path = sent.headers.get('Location') ?? '';
  const { text } = await browser.go(path, { headers: { Accept: 'application/json' } });
  const request: unknown = JSON.parse(text);
  return { path, request };
}

/** Presses a button of the consent page. */
export function submitConsent(
  browser: FormBrowser,
  page: PageResponse,
  button: 'approve' | 'cancel',
  agent_id?: string,
  origin?: string,
): Promise<PageResponse> {
  const form = findForm(page, new URL(page.url).pathname);
  const fields = agent_id === undefined ? {} : { fields: { agent_id } };
  return browser.send(form, { button, ...fields, ...(origin && { headers: { Origin: origin } }) });
}

/** As programs ask: a browser that a wrong request leads away gets a page first. */
export const programRequest = { headers: { Accept: '*/*' } };

/** What the app is told at its redirect address. */
export function readRedirectParams(answer: PageResponse): URLSearchParams {
  const location = answer.headers.get('Location');
  if (location === null) throw new Error(`no redirect, but ${answer.status}: ${answer.visibleText}`);
  return new URL(location).searchParams;
}

/** A token answer that grants something. */
export function readTokens({ status, json }: { status: number; json: unknown }): Tokens {
  if (status !== 200) throw new Error(`no tokens, but ${status}: ${JSON.stringify(json)}`);
  return tokens.parse(json);
}
