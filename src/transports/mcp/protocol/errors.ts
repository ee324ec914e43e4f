import type { z } from 'zod';
import { describeIssue } from '../../../../packages/core/src/inputs/describe-issue.ts';
import { errorBody, toDomainError } from '../../http/errors.ts';

/** JSON-RPC error codes (JSON-RPC 2.0, section 5.1; MCP, Transports, Resources and Versioning). */
export const rpcCodes = {
  parseError: -32_700,
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internalError: -32_603,
  serverError: -32_000,
  sessionNotFound: -32_001,
  resourceNotFound: -32_002,
  headerMismatch: -32_020,
  missingCapability: -32_021,
  unsupportedVersion: -32_022,
} as const;

export interface RpcErrorOptions {
  data?: unknown;
  cause?: unknown;
}

/** A JSON-RPC error response. Unlike the SDK's error it adds no prefix to the message. */
export class RpcError extends Error {
  override name = 'RpcError';
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, options: RpcErrorOptions = {}) {
    // It may quote half of a surrogate pair.
    super(message.toWellFormed(), { cause: options.cause });
    this.code = code;
    this.data = options.data;
  }
}

/** Converts anything thrown to a JSON-RPC error, with the REST error body as `data`. Logs internal errors. */
export function toRpcError(
  logger: { error(fields: object, message: string): void },
  { actor, request_id }: { actor: { agent_id: string }; request_id: string },
  thrown: unknown,
): RpcError {
  if (thrown instanceof RpcError) return thrown;
  const error = toDomainError(thrown);
  // Without a cause nothing failed: the caller comes too early, or too many come at once.
  if (error.code === 'INTERNAL' || error.cause !== undefined)
    logger.error({ err: error.cause ?? error, request_id, agent_id: actor.agent_id }, error.code);
  return new RpcError(rpcCodes.internalError, error.message, { data: errorBody(error, request_id, 'call') });
}

/** -32021: the client has not declared a capability that the call needs. Sent with the status 400. */
export function missingCapability(requiredCapabilities: Record<string, unknown>): RpcError {
  const text = 'The client has not declared a capability that this call needs: see requiredCapabilities.';
  return new RpcError(rpcCodes.missingCapability, text, { data: { requiredCapabilities } });
}

/** An HTTP error response with a JSON-RPC error as its body. */
export class McpHttpError extends RpcError {
  override name = 'McpHttpError';
  readonly status: number;
  readonly headers: Record<string, string>;
  /** That of the request, once it is known. */
  id: string | number | null = null;

  constructor(
    status: number,
    code: number,
    message: string,
    options: RpcErrorOptions & { headers?: Record<string, string> } = {},
  ) {
    super(code, message, options);
    this.status = status;
    this.headers = options.headers ?? {};
  }

  /** The response body. */
  toJSON(): object {
    const { code, id, message, data } = this;
    return { jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } };
  }
}

/** Checks a request, because the SDK answers an invalid one with an internal error. @throws {McpHttpError} -32602 with the first issue. */
export function parseRequest<Request>(schema: z.ZodType<Request>, request: unknown): Request {
  const result = schema.safeParse(request, { error: describeIssue });
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const text = `Invalid ${issue?.path.join('.')}: ${issue?.message}.`;
  throw new McpHttpError(400, rpcCodes.invalidParams, text);
}
