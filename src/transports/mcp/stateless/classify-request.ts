import {
  classifyInboundRequest,
  type JSONRPCNotification,
  type JSONRPCRequest,
} from '@modelcontextprotocol/server';
import type { Context } from 'koa';
import { McpHttpError, rpcCodes } from '../protocol/errors.ts';
import { statelessRevision, versionHeader } from '../protocol/headers.ts';
import { isJsonRpc } from '../protocol/json-body.ts';
import { readField } from '../protocol/required-scopes.ts';
import type { ToolNames } from '../tools/tool-names.ts';

const methodHeader = 'mcp-method';
const nameHeader = 'mcp-name';

export interface StatelessMessage {
  message: JSONRPCRequest | JSONRPCNotification;
  /** The revision that the message names. */
  revision: string | undefined;
}

/**
 * Whether a message is of revision 2026-07-28 or later: `_meta` of a request, or the header of a notification, names it.
 * @param message valid JSON-RPC, or a batch.
 * @returns undefined for older revisions.
 * @throws {McpHttpError} 400: -32602 for incomplete `_meta`, -32020 if headers and message differ, -32600 for a batch.
 */
export function classifyRequest(ctx: Context, message: unknown): StatelessMessage | undefined {
  const [version, method, name] = [ctx.get(versionHeader), ctx.get(methodHeader), ctx.get(nameHeader)];
  // Malformed members of a batch get errors of their own.
  const body = Array.isArray(message) ? message.filter((one) => isJsonRpc(one)) : message;
  if (Array.isArray(body) && body.length === 0) return undefined;
  const outcome = classifyInboundRequest({
    httpMethod: ctx.method,
    ...(version !== '' && { protocolVersionHeader: version }),
    ...(method !== '' && { mcpMethodHeader: method }),
    ...(name !== '' && { mcpNameHeader: name }),
    body,
  });
  if (outcome.kind === 'legacy') return undefined;
  if (outcome.kind === 'modern')
    return { message: outcome.message, revision: outcome.classification.revision };
  const { httpStatus, code, message: text, data } = outcome;
  throw new McpHttpError(httpStatus, code, text, { data });
}

/**
 * Checks the revision and the headers of a request (MCP, Transports: Standard Request Headers).
 * @throws {McpHttpError} 400: -32022 for an unknown revision, -32020 if a header is missing or names something else.
 */
export function requireStandardHeaders(
  ctx: Context,
  { message, revision }: { message: JSONRPCRequest; revision: string | undefined },
  toolNames: Pick<ToolNames, 'resolve'>,
): void {
  if (revision !== statelessRevision) {
    const data = { supported: [statelessRevision], requested: revision?.toWellFormed() };
    const text = `Unsupported protocol version: ${String(revision).slice(0, 80)}`;
    throw new McpHttpError(400, rpcCodes.unsupportedVersion, text, { data });
  }
  const missing = [versionHeader, methodHeader].find((name) => ctx.get(name) === '');
  const problem =
    missing === undefined ? findNameProblem(ctx, message, toolNames) : `the header ${missing} is missing`;
  if (problem !== undefined) throw new McpHttpError(400, rpcCodes.headerMismatch, `Bad Request: ${problem}.`);
}

/** The field that `Mcp-Name` repeats, by method. */
const nameFields = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
]);

/** The name of a tool is compared as it was resolved: header and body may spell it differently. */
function findNameProblem(
  ctx: Context,
  { method, params }: JSONRPCRequest,
  toolNames: Pick<ToolNames, 'resolve'>,
): string | undefined {
  const field = nameFields.get(method);
  const value = field === undefined ? undefined : readField(params, field);
  if (typeof value !== 'string') return undefined;
  const header = ctx.get(nameHeader);
  if (header === '') return `the header ${nameHeader} is missing`;
  const decoded = decodeHeader(header);
  const named = method === 'tools/call' && decoded !== undefined ? toolNames.resolve(decoded) : decoded;
  return named === value ? undefined : `the header ${nameHeader} is not params.${field}`;
}

const encodedHeader = /^=\?base64\?([A-Za-z\d+/]*={0,2})\?=$/;

/** The text of a header value: as it is, or in Base64 if it has characters that a header cannot have. */
function decodeHeader(value: string): string | undefined {
  const [, encoded] = encodedHeader.exec(value) ?? [];
  if (encoded === undefined) return value;
  const bytes = Buffer.from(encoded, 'base64');
  return bytes.toString('base64') === encoded ? bytes.toString() : undefined;
}
