/** JSON-RPC error codes that the tool server uses at the HTTP level (JSON-RPC 2.0, section 5.1; MCP, Transports). */
export const rpcCodes = {
  parseError: -32_700,
  invalidRequest: -32_600,
  invalidParams: -32_602,
  internalError: -32_603,
  refused: -32_000,
  sessionNotFound: -32_001,
  resourceNotFound: -32_002,
} as const;

export interface RefusalOptions {
  headers?: Record<string, string>;
  data?: unknown;
  cause?: unknown;
}

/** A request that is refused before any JSON-RPC message of it is looked at: answered as a JSON-RPC error without an id. */
export class Refusal extends Error {
  override name = 'Refusal';
  readonly status: number;
  readonly code: number;
  readonly headers: Record<string, string>;
  readonly data: unknown;

  constructor(status: number, code: number, message: string, options: RefusalOptions = {}) {
    super(message, { cause: options.cause });
    this.status = status;
    this.code = code;
    this.headers = options.headers ?? {};
    this.data = options.data;
  }

  /** The body of the answer. */
  toJSON(): object {
    const { code, message, data } = this;
    return { jsonrpc: '2.0', id: null, error: { code, message, ...(data !== undefined && { data }) } };
  }
}
