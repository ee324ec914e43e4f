import {
  isInitializeRequest,
  JSONRPCMessageSchema,
  RequestIdSchema,
} from '@modelcontextprotocol/sdk/types.js';
import type { Context } from 'koa';
import { createJsonCounter, maxJsonValues } from '../../http/json-counter.ts';
import { McpHttpError, rpcCodes } from './errors.ts';
import { requireVersion } from './headers.ts';
import { readField } from './required-scopes.ts';

/** 4 MiB, as in the MCP SDK. */
const maxBodyBytes = 4 * 1024 * 1024;

export const isJsonRpc = (message: unknown): boolean => JSONRPCMessageSchema.safeParse(message).success;

/** Checks that a message is JSON-RPC 2.0. A batch has checks of its own. @throws {McpHttpError} 400 */
export function requireJsonRpc(message: unknown): void {
  if (Array.isArray(message) || isJsonRpc(message)) return;
  const text = 'Invalid Request: send a JSON-RPC 2.0 message with jsonrpc, method and, for a request, id.';
  throw new McpHttpError(400, rpcCodes.invalidRequest, text);
}

/** Checks the parameters of `initialize`: the SDK would report them as an internal error. @throws {McpHttpError} 400 */
export function requireInitializeParams(message: unknown): void {
  if (readField(message, 'method') !== 'initialize' || isInitializeRequest(message)) return;
  const text = 'Invalid params: initialize needs protocolVersion, capabilities and clientInfo.';
  throw new McpHttpError(400, rpcCodes.invalidParams, text);
}

/** Checks the protocol version of a request until 2025-11-25; `initialize` negotiates it. @throws {McpHttpError} 400 */
export function requireVersionOf(ctx: Context, message: unknown): void {
  if (!isInitializeRequest(message)) requireVersion(ctx);
}

/** The id of a request that may not be valid; null without one. */
export function readRequestId(message: unknown): string | number | null {
  const isResponse = readField(message, 'result') !== undefined || readField(message, 'error') !== undefined;
  if (isResponse) return null;
  return RequestIdSchema.safeParse(readField(message, 'id')).data ?? null;
}

/**
 * Reads a JSON request body, without validation.
 * @throws {McpHttpError} 415 for another media type, 413 over 4 MiB, 400 if it is not UTF-8 JSON, is incomplete, or has too
 * many values.
 */
export async function readJsonBody(ctx: Context): Promise<unknown> {
  const encoding = ctx.get('Content-Encoding') || 'identity';
  if (ctx.request.type.toLowerCase() !== 'application/json' || encoding !== 'identity') {
    throw new McpHttpError(415, rpcCodes.serverError, 'Unsupported Media Type: send plain application/json.');
  }
  const bytes = await readBytes(ctx);
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new McpHttpError(400, rpcCodes.parseError, 'Parse error: the body is not valid UTF-8 JSON.');
  }
}

async function readBytes(ctx: Context): Promise<Buffer> {
  if ((ctx.request.length ?? 0) > maxBodyBytes) throw tooLarge(ctx);
  const chunks: Buffer[] = [];
  const counter = createJsonCounter();
  let received = 0;
  try {
    for await (const chunk of ctx.req.iterator({ destroyOnReturn: false })) {
      received += chunk.length;
      counter.add(chunk);
      if (received > maxBodyBytes || counter.hasTooMany()) break;
      chunks.push(chunk);
    }
  } catch (error) {
    throw new McpHttpError(400, rpcCodes.parseError, 'Parse error: the body is incomplete.', {
      cause: error,
    });
  }
  if (received > maxBodyBytes) throw tooLarge(ctx);
  if (counter.hasTooMany()) throw tooManyValues(ctx);
  return Buffer.concat(chunks);
}

function tooManyValues(ctx: Context): McpHttpError {
  ctx.req.resume();
  const text = `Invalid Request: the body has too many values: at most ${maxJsonValues}.`;
  return new McpHttpError(400, rpcCodes.invalidRequest, text);
}

/** Discards the rest of the body, so that the client can read the response. */
function tooLarge(ctx: Context): McpHttpError {
  ctx.req.resume();
  return new McpHttpError(413, rpcCodes.serverError, 'Payload Too Large: the maximum is 4 MiB.');
}
