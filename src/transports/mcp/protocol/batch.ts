import type { Context } from 'koa';
import type { Session } from '../sessions/sessions.ts';
import { McpHttpError, rpcCodes } from './errors.ts';
import { requireVersion, versionHeader } from './headers.ts';
import { isJsonRpc, readRequestId } from './json-body.ts';
import { readField } from './required-scopes.ts';

/** Later revisions have no batches. */
const lastBatchRevision = '2025-03-26';
const maxMessages = 100;

export interface Batch {
  valid: readonly unknown[];
  /** The error responses of the other members. */
  refusals: readonly object[];
}

/**
 * Checks a batch (JSON-RPC 2.0, section 6). A malformed member gets an error of its own.
 * @throws {McpHttpError} 400 in a revision without batches, which the header or the session names; and for too many messages
 */
export function requireBatch(
  ctx: Context,
  messages: readonly unknown[],
  session: Pick<Session, 'protocol_version'> | undefined,
): Batch {
  // A client that names no revision counts as one of 2025-03-26 (MCP, Transports: Protocol Version Header).
  const revision = ctx.get(versionHeader) || session?.protocol_version || lastBatchRevision;
  if (revision > lastBatchRevision) {
    const text = `Invalid Request: revision ${revision.slice(0, 80)} has no batches; send each message in a request of its own.`;
    throw new McpHttpError(400, rpcCodes.invalidRequest, text);
  }
  requireVersion(ctx);
  if (messages.length === 0 || messages.length > maxMessages) {
    const text = `Invalid Request: a batch has 1 to ${maxMessages} messages.`;
    throw new McpHttpError(400, rpcCodes.invalidRequest, text);
  }
  const members = messages.map((message) => ({ message, refusal: findRefusal(message) }));
  return {
    valid: members.flatMap(({ message, refusal }) => (refusal ? [] : [message])),
    refusals: members.flatMap(({ refusal }) => refusal ?? []),
  };
}

function findRefusal(message: unknown): object | undefined {
  if (!isJsonRpc(message)) return refuse(null, 'a member is no JSON-RPC 2.0 message.');
  return readField(message, 'method') === 'initialize'
    ? refuse(readRequestId(message), 'initialize cannot be part of a batch.')
    : undefined;
}

function refuse(id: string | number | null, reason: string): object {
  return {
    jsonrpc: '2.0',
    id,
    error: { code: rpcCodes.invalidRequest, message: `Invalid Request: ${reason}` },
  };
}
