import type { JSONRPCErrorResponse, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import {
  HttpStatusError,
  isNetworkError,
  isUnsent,
  errorReason,
  SessionLost,
  SignInError,
  StreamEnded,
} from './errors.ts';

type RpcError = JSONRPCErrorResponse['error'];

/** JSON-RPC code for errors of the service or the connection. */
const serverErrorCode = -32_000;

const rpcBody = z.object({
  error: z.object({ code: z.int(), message: z.string(), data: z.unknown().optional() }),
});
const restBody = z.object({ error: z.looseObject({ code: z.string(), message: z.string() }) });

/** Returns the JSON-RPC error response for a failed request. */
export function toErrorResponse(id: RequestId, error: unknown, address: URL): JSONRPCErrorResponse {
  return { jsonrpc: '2.0', id, error: toRpcError(error, address) };
}

function toRpcError(error: unknown, address: URL): RpcError {
  if (error instanceof HttpStatusError) return toRpcErrorFromHttp(error, address);
  if (error instanceof SignInError) return serverError(error.message);
  if (error instanceof SessionLost)
    return serverError('The session has ended, and no new one could be opened.');
  if (isUnsent(error))
    return serverError(`The service at ${address.href} cannot be reached (${errorReason(error)}).`);
  if (error instanceof StreamEnded || isNetworkError(error))
    return serverError(
      `The connection to ${address.href} was lost before the response arrived (${errorReason(error)}). The call may have taken effect. Check before you repeat it, or set idempotency_key so that it can be repeated automatically.`,
    );
  return serverError(`${address.href} did not respond like an MCP server (${errorReason(error)}).`);
}

function toRpcErrorFromHttp({ status, body }: HttpStatusError, address: URL): RpcError {
  const rpc = rpcBody.safeParse(body);
  if (rpc.success) return rpc.data.error;
  const rest = restBody.safeParse(body);
  if (rest.success && status !== 404) {
    const { error } = rest.data;
    return { code: serverErrorCode, message: error.message, data: { error } };
  }
  return serverError(`${address.href} returned ${status}. Check that this is the URL of the MCP server.`);
}

function serverError(message: string): RpcError {
  return { code: serverErrorCode, message };
}
