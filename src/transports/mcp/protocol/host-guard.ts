import type { Context } from 'koa';
import { McpHttpError, rpcCodes } from './errors.ts';

const loopbackHosts = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Refuses requests that a browser was tricked into sending (MCP, Transports: DNS rebinding). Host, and Origin where there is
 * one, must name the public address, a loopback name or one of `allowed`.
 * @throws {McpHttpError} 403
 */
export function createHostGuard(publicUrl: string, allowed: readonly string[]): (ctx: Context) => void {
  const own = new URL(publicUrl);
  const good = new Set([own.host, ...allowed.map((host) => host.toLowerCase())]);

  function isGood(address: string): boolean {
    if (!URL.canParse(address)) return false;
    const url = new URL(address);
    return good.has(url.host) || good.has(url.hostname) || loopbackHosts.has(url.hostname);
  }

  return function guard(ctx) {
    if (!good.has(ctx.host) && !isGood(`${own.protocol}//${ctx.host}`)) {
      throw new McpHttpError(
        403,
        rpcCodes.serverError,
        'Forbidden: this server does not answer to that Host.',
      );
    }
    const origin = ctx.get('Origin');
    if (origin !== '' && !isGood(origin)) {
      throw new McpHttpError(
        403,
        rpcCodes.serverError,
        'Forbidden: requests from that Origin are not served.',
      );
    }
  };
}
