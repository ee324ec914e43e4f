/** Hosts of the person's own machine (RFC 8252, section 7.3; `localhost` too, since common clients use it). */
const loopbackHosts = new Set(['127.0.0.1', '[::1]', 'localhost']);

/**
 * Schemes of desktop clients that have no dot, as RFC 8252, section 7.1, wants it. The dot keeps schemes of the browser and of the
 * system out (`javascript:`, `data:`, `file:`, `ms-settings:`); so others without one are known by name.
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

/** Where an answer goes: a page of a website, a program that listens on the person's machine, or one that owns a scheme. */
export type RedirectKind = 'https' | 'loopback' | 'scheme';

const maxAddressLength = 2_000;

/** Addresses take more than names have: `;`, `,` and `*` would be words of the policy that the page allows the host in. */
const plainHost = /^(?:[a-z0-9._-]+|\[[0-9a-f:]+\])$/;

/** What kind of redirect address this is, or in words why it may not be one. */
export function classifyRedirect(address: string): { kind: RedirectKind } | { fault: string } {
  const url = URL.parse(address);
  if (!url || address.length > maxAddressLength) return { fault: 'must be absolute addresses' };
  // What a browser reads otherwise than it looks, and halves of characters, which the database does not take.
  if (/[\s\\]|\p{Cc}|\p{Cs}/u.test(address))
    return { fault: 'must hold no spaces, backslashes or control characters' };
  if (url.username !== '' || url.password !== '') return { fault: 'must hold no user names' };
  if (address.includes('#')) return { fault: 'must hold no fragments' };
  if (url.protocol === 'https:') {
    return plainHost.test(url.hostname)
      ? { kind: 'https' }
      : { fault: 'must name a host by letters, digits, dots and dashes' };
  }
  if (url.protocol === 'http:') {
    return isLoopback(url)
      ? { kind: 'loopback' }
      : { fault: 'may use http only for 127.0.0.1, [::1] and localhost' };
  }
  if (reverseDomain.test(url.protocol) || desktopSchemes.has(url.protocol)) return { kind: 'scheme' };
  return {
    fault: `may not use the scheme ${url.protocol.slice(0, 40)} use https, or a scheme of your own with a dot in it`,
  };
}

function isLoopback(url: URL): boolean {
  return url.protocol === 'http:' && loopbackHosts.has(url.hostname);
}

/**
 * A redirect address as the consent page tells and allows it: `host` is the host with its port, or the scheme; `target` is what a
 * form may lead to (Content Security Policy, form-action): the origin or the scheme.
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
