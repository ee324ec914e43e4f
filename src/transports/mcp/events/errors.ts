import {
  type EventDialect,
  type EventErrorCode,
  eventErrorBody,
} from '../../../../packages/core/src/domain/feed/event-dialects.ts';
import { toDomainError } from '../../http/errors.ts';
import type { McpParts } from '../parts.ts';
import { RpcError, rpcCodes, toRpcError } from '../protocol/errors.ts';
import type { Caller } from '../protocol/exchange.ts';

/** The dialect of a request: one that declares the extension is of SEP-3415. */
export function dialectOf({ client }: Pick<Caller, 'client'>): EventDialect {
  return client?.hasEvents ? 'sep3415' : 'sketch';
}

/** An error to throw, in the dialect of the caller. */
export function eventError(
  caller: Pick<Caller, 'client'>,
  code: EventErrorCode,
  { text, ...data }: { text: string; [field: string]: unknown },
): RpcError {
  const body = eventErrorBody(dialectOf(caller), code, data);
  return new RpcError(body.code, `${body.message}: ${text}`, { data });
}

/** -32602, which both dialects have. */
export function invalidEventParams(text: string, data?: object): RpcError {
  return new RpcError(rpcCodes.invalidParams, text, { data });
}

/** Converts what a method of Events threw to a JSON-RPC error, in the dialect of the caller. Logs internal errors. */
export function toEventError(
  { logger }: Pick<McpParts, 'logger'>,
  caller: Caller,
  thrown: unknown,
): RpcError {
  if (thrown instanceof RpcError) return thrown;
  const { code, message, status, retry_after } = toDomainError(thrown);
  const data = { code, request_id: caller.request_id, ...(retry_after !== undefined && { retry_after }) };
  if (status >= 500) return new RpcError(toRpcError(logger, caller, thrown).code, message, { data });
  if (code === 'RATE_LIMITED') return eventError(caller, 'resourceExhausted', { text: message, ...data });
  if (status === 401 || status === 403) return eventError(caller, 'forbidden', { text: message, ...data });
  return invalidEventParams(message, data);
}
