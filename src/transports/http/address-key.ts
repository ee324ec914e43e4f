import { isIP } from 'node:net';
import type { Context } from 'koa';

/**
 * What to count calls without a token by: the caller's address, as the proxy in front saw it under TRUST_PROXY. Of an IPv6 address
 * only the network counts (RFC 6177: a caller has at least a /64), or everybody would have countless ones.
 */
export function addressKey(ctx: Context): string {
  const address = ctx.ip.replace(/^::ffff:(?=\d+\.)/i, '');
  const kind = isIP(address);
  if (kind === 0) return 'unknown';
  return kind === 4 ? address : `${network(address)}::/64`;
}

function network(address: string): string {
  const [head = '', tail] = address.split('::');
  const groups = (part: string) => part.split(':').filter((group) => group !== '');
  const left = groups(head);
  const zeros = tail === undefined ? 0 : 8 - left.length - groups(tail).length;
  const all = [...left, ...Array<string>(Math.max(0, zeros)).fill('0'), ...groups(tail ?? '')];
  return all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}
