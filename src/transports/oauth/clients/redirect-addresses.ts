/** Hosts of the person's own machine (RFC 8252, section 7.3; `localhost` too, since common clients use it). */
const loopbackHosts = new Set(['127.0.0.1', '[::1]', 'localhost']);

/**
 * Allowed custom schemes without a dot. RFC 8252, section 7.1, requires a dot, which excludes browser and system schemes such as
 * `javascript:`, `data:`, `file:` and `ms-settings:`, but these common clients have none.
 */
const desktopSchemes = new Set([
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

/** A website, a program that listens on the person's machine, or an app with a custom scheme. */
export type RedirectKind = 'https' | 'loopback' | 'scheme';

const maxAddressLength = 2_000;

/** Allowed host characters. Others such as `;`, `,` and `*` have a meaning in Content Security Policies. */
const plainHost = /^(?:[a-z0-9._-]+|\[[0-9a-f:]+\])$/;

/** The kind of a redirect address, or why it is not allowed (to follow "redirect_uris"). */
export function classifyRedirect(address: string): { kind: RedirectKind } | { problem: string } {
  const url = URL.parse(address);
  if (!url || address.length > maxAddressLength) return { problem: 'must be absolute addresses' };
  // Browsers reinterpret these characters, and the database cannot store lone surrogates.
  if (/[\s\\]|\p{Cc}|\p{Cs}/u.test(address))
    return { problem: 'must not contain spaces, backslashes or control characters' };
  if (url.username !== '' || url.password !== '') return { problem: 'must not contain user names' };
  if (address.includes('#')) return { problem: 'must not contain fragments' };
  if (url.protocol === 'https:') {
    return plainHost.test(url.hostname)
      ? { kind: 'https' }
      : { problem: 'must have a host of letters, digits, dots and dashes' };
  }
  if (url.protocol === 'http:') {
    return isLoopback(url)
      ? { kind: 'loopback' }
      : { problem: 'can use http only for 127.0.0.1, [::1] and localhost' };
  }
  if (reverseDomain.test(url.protocol) || desktopSchemes.has(url.protocol)) return { kind: 'scheme' };
  return {
    problem: `cannot use the scheme ${url.protocol.slice(0, 40)} use https or a custom scheme with a dot`,
  };
}

function isLoopback(url: URL): boolean {
  return url.protocol === 'http:' && loopbackHosts.has(url.hostname);
}

/**
 * A redirect address for the consent page: `host` is the host with its port, or the scheme; `target` is the origin or scheme for the
 * form-action of the Content Security Policy.
 */
export function describeRedirect(address: string): { host: string; target: string; loopback: boolean } {
  const url = new URL(address);
  const loopback = isLoopback(url);
  if (url.host === '' || !/^https?:$/.test(url.protocol)) {
    return { host: url.protocol, target: url.protocol, loopback };
  }
  // A policy cannot name an IPv6 address.
  const target = url.hostname.startsWith('[') ? url.protocol : url.origin;
  return { host: url.host, target, loopback };
}
