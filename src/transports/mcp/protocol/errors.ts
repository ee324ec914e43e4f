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
