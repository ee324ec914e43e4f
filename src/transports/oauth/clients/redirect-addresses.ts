import { webAddressProblem } from '../../../shared/web-address.ts';

/** Hosts of the person's own machine (RFC 8252, section 7.3; `localhost` too, since common clients use it). */
const loopbackHosts = new Set(['127.0.0.1', '[::1]', 'localhost']);

/**
 * Known custom schemes without a dot, listed in docs/mcp.md. RFC 8252, section 7.1, requires a dot, but these common clients have none.
 */
const knownSchemes = new Set([
  'claude:',
  'cline:',
  'code-oss:',
  'cursor:',
  'goose:',
  'jetbrains:',
  'kiro:',
  'lmstudio:',
  'raycast:',
  'vscode:',
  'vscode-insiders:',
  'vscodium:',
  'warp:',
  'windsurf:',
  'zed:',
]);

const reverseDomain = /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:$/;

/** Schemes that browsers and operating systems handle themselves. */
const systemScheme =
  /^(?:about|blob|data|file|filesystem|ftp|intent|jar|javascript|mailto|ms-.*|res|resource|search-ms|sms|smb|ssh|tel|telnet|vbscript|view-source|wss?):$/;

/** A website, a program that listens on the person's machine, or an app with a known scheme or another one, which the person allows. */
export type RedirectKind = 'https' | 'loopback' | 'scheme' | 'other_scheme';

const maxAddressLength = 2_000;

/** Allowed host characters. Others such as `;`, `,` and `*` have a meaning in Content Security Policies. */
const plainHost = /^(?:[a-z0-9._-]+|\[[0-9a-f:]+\])$/;

/** The kind of a redirect address, or why it is not allowed (to follow "redirect_uris"). */
export function classifyRedirect(address: string): { kind: RedirectKind } | { problem: string } {
  const url = URL.parse(address);
  if (!url || address.length > maxAddressLength) return { problem: 'must be absolute addresses' };
  if (address.includes('#')) return { problem: 'must not contain fragments' };
  if (/^https?:$/.test(url.protocol)) return classifyWebAddress(address, url);
  // Browsers reinterpret these characters, and the database cannot store lone surrogates.
  if (/[\s\\]|\p{Cc}|\p{Cs}/u.test(address))
    return { problem: 'must not contain spaces, backslashes or control characters' };
  if (url.username !== '' || url.password !== '') return { problem: 'must not contain user names' };
  if (systemScheme.test(url.protocol)) {
    return {
      problem: `cannot use the scheme ${url.protocol.slice(0, 40)} use https or the scheme of an app`,
    };
  }
  if (isKnownScheme(url.protocol)) return { kind: 'scheme' };
  if (url.href.startsWith(`${url.protocol}/`)) return { kind: 'other_scheme' };
  return { problem: 'must have a / after the scheme of an app' };
}

function classifyWebAddress(address: string, url: URL): ReturnType<typeof classifyRedirect> {
  const problem = webAddressProblem(address);
  if (problem !== undefined) return { problem };
  if (isLoopback(url)) return { kind: 'loopback' };
  if (url.protocol === 'http:') {
    const reason = 'because others could read the code on its way to another host';
    return {
      problem: `can use http only for 127.0.0.1, [::1] and localhost, ${reason}; use https://${url.host.slice(0, 80)}`,
    };
  }
  return plainHost.test(url.hostname)
    ? { kind: 'https' }
    : { problem: 'must have a host of letters, digits, dots and dashes' };
}

function isKnownScheme(protocol: string): boolean {
  return reverseDomain.test(protocol) || knownSchemes.has(protocol);
}

function isLoopback(url: URL): boolean {
  return url.protocol === 'http:' && loopbackHosts.has(url.hostname);
}

/**
 * A redirect address for the consent page: `host` is the host with its port, or the scheme; `unknown_scheme` asks for the consent of
 * the person to the scheme itself.
 */
export function describeRedirect(address: string): {
  host: string;
  loopback: boolean;
  unknown_scheme: boolean;
} {
  const url = new URL(address);
  const isWeb = /^https?:$/.test(url.protocol);
  return {
    host: isWeb ? url.host : url.protocol,
    loopback: isLoopback(url),
    unknown_scheme: !isWeb && !isKnownScheme(url.protocol),
  };
}
