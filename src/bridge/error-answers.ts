import type { JSONRPCErrorResponse, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import {
  HttpRefusal,
  isNetworkFault,
  isUnsent,
  reasonOf,
  SessionLost,
  SignInError,
  StreamEnded,
} from './failures.ts';

type RpcError = JSONRPCErrorResponse['error'];

/** The service refused a request as a whole (mcp.md, section 1). */
const refusedCode = -32_000;

const rpcBody = z.object({
  error: z.object({ code: z.int(), message: z.string(), data: z.unknown().optional() }),
});
const restBody = z.object({ error: z.looseObject({ code: z.string(), message: z.string() }) });

/** What a client is told instead of an answer. */
export function errorAnswer(id: RequestId, error: unknown, address: URL): JSONRPCErrorResponse {
  return { jsonrpc: '2.0', id, error: errorOf(error, address) };
}

function errorOf(error: unknown, address: URL): RpcError {
  if (error instanceof HttpRefusal) return refusalOf(error, address);
  if (error instanceof SignInError) return refused(error.message);
  if (error instanceof SessionLost) return refused('The session has ended, and no new one could be begun.');
  if (isUnsent(error))
    return refused(`The service at ${address.href} cannot be reached (${reasonOf(error)}).`);
  if (error instanceof StreamEnded || isNetworkFault(error))
    return refused(
      `The connection to ${address.href} was lost before the answer came (${reasonOf(error)}). The call may have had its effect: look before you repeat it, or give it an idempotency_key, with which it is repeated by itself.`,
    );
  return refused(`${address.href} did not answer as a tool server does (${reasonOf(error)}).`);
}

function refusalOf({ status, body }: HttpRefusal, address: URL): RpcError {
  const rpc = rpcBody.safeParse(body);
  if (rpc.success) return rpc.data.error;
  const rest = restBody.safeParse(body);
  if (rest.success && status !== 404) {
    const { error } = rest.data;
    return { code: refusedCode, message: error.message, data: { error } };
  }
  return refused(`${address.href} answers ${status}: is that the address of the tool server?`);
}

function refused(message: string): RpcError {
  return { code: refusedCode, message };
}
