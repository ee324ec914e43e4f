import type { Context } from 'koa';
import { Refusal, rpcCodes } from './refusal.ts';

const loopback = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Refuses requests that a browser was tricked into sending (MCP, Transports: DNS rebinding). Host, and Origin where there is
 * one, must name the public address, a loopback name or one of `allowed`.
 * @throws {Refusal} 403
 */
export function createGuard(publicUrl: string, allowed: readonly string[]): (ctx: Context) => void {
  const own = new URL(publicUrl);
  const good = new Set([own.host, ...allowed.map((host) => host.toLowerCase())]);

  function isGood(address: string): boolean {
    if (!URL.canParse(address)) return false;
    const url = new URL(address);
    return good.has(url.host) || good.has(url.hostname) || loopback.has(url.hostname);
  }

  return function guard(ctx) {
    if (!good.has(ctx.host) && !isGood(`${own.protocol}//${ctx.host}`)) {
      throw new Refusal(403, rpcCodes.refused, 'Forbidden: this server does not answer to that Host.');
    }
    const origin = ctx.get('Origin');
    if (origin !== '' && !isGood(origin)) {
      throw new Refusal(403, rpcCodes.refused, 'Forbidden: requests from that Origin are not served.');
    }
  };
}
