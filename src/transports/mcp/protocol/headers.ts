import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/sdk/types.js';
import type { Context } from 'koa';
import { McpHttpError, rpcCodes } from './errors.ts';

export const sessionHeader = 'mcp-session-id';
export const versionHeader = 'mcp-protocol-version';
/** The stateless revision that this service implements. */
export const statelessRevision = '2026-07-28';

export const resumeHeader = 'last-event-id';

/**
 * Rejects unsupported protocol versions (MCP, Transports: Protocol Version Header), with the text that the SDK uses for POST.
 * @throws {McpHttpError} 400
 */
export function requireVersion(ctx: Context): void {
  const version = ctx.get(versionHeader);
  if (version === '' || SUPPORTED_PROTOCOL_VERSIONS.includes(version)) return;
  const supported = SUPPORTED_PROTOCOL_VERSIONS.join(', ');
  const text = `Bad Request: Unsupported protocol version: ${version.slice(0, 80)} (supported versions: ${supported})`;
  const data = { supported: SUPPORTED_PROTOCOL_VERSIONS, requested: version.slice(0, 80) };
  throw new McpHttpError(400, rpcCodes.serverError, text, { data });
}
