import type { Context } from 'koa';
import { McpHttpError, rpcCodes } from './errors.ts';

const exposedHeaders = 'MCP-Protocol-Version, Mcp-Session-Id, Retry-After, WWW-Authenticate';

const loopbackHosts = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Protects against DNS rebinding (MCP, Transports: Security Warning). Host, and Origin if present, must name the public
 * address, a loopback name or one of `allowed`. An allowed origin gets the CORS headers (Fetch, section 3.2), so that pages can connect.
 * @throws {McpHttpError} 403
 */
export function createHostGuard(publicUrl: string, allowed: readonly string[]): (ctx: Context) => void {
  const own = new URL(publicUrl);
  const allowedHosts = new Set([own.host, ...allowed.map((host) => host.toLowerCase())]);

  function isAllowed(address: string): boolean {
    if (!URL.canParse(address)) return false;
    const url = new URL(address);
    return allowedHosts.has(url.host) || allowedHosts.has(url.hostname) || loopbackHosts.has(url.hostname);
  }

  return function guard(ctx) {
    if (!allowedHosts.has(ctx.host) && !isAllowed(`${own.protocol}//${ctx.host}`)) {
      throw new McpHttpError(
        403,
        rpcCodes.serverError,
        `Forbidden: the Host header is not allowed. Use ${publicUrl}/mcp, or add this host to ALLOWED_HOSTS.`,
      );
    }
    const origin = ctx.get('Origin');
    ctx.vary('Origin');
    if (origin === '') return;
    if (!isAllowed(origin)) {
      throw new McpHttpError(
        403,
        rpcCodes.serverError,
        `Forbidden: the Origin header is not allowed. Use ${publicUrl}, or add this host to ALLOWED_HOSTS.`,
      );
    }
    ctx.set('Access-Control-Allow-Origin', origin);
    ctx.set('Access-Control-Expose-Headers', exposedHeaders);
  };
}
