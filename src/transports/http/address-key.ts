import { isIP } from 'node:net';
import type { Context } from 'koa';

/**
 * The key of rate limits for requests without a token: the client address, as the proxy saw it with TRUST_PROXY. For IPv6 it is
 * the /64 network, since every client has at least that many addresses (RFC 6177).
 */
export function addressKey(ctx: Context): string {
  const address = ctx.ip.replace(/^::ffff:(?=\d+\.)/i, '');
  const kind = isIP(address);
  if (kind === 0) return 'unknown';
  return kind === 4 ? address : `${network(address)}::/64`;
}

function network(address: string): string {
  const [start = '', end] = address.split('::');
  const groups = (part: string) => part.split(':').filter((group) => group !== '');
  const left = groups(start);
  const zeros = end === undefined ? 0 : 8 - left.length - groups(end).length;
  const all = [...left, ...Array<string>(Math.max(0, zeros)).fill('0'), ...groups(end ?? '')];
  return all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}
