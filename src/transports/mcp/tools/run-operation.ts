import type { DomainError } from '../../../../packages/core/src/domain/errors.ts';
import { errorBody, toDomainError } from '../../http/errors.ts';
import type { Approver } from '../../../operations/execute/context.ts';
import type { Operation } from '../../../operations/define.ts';
import { ownTurn } from '../../../shared/map-in-turns.ts';
import type { Caller } from '../protocol/exchange.ts';
import { type FittedResult, fitResult } from './fit-result.ts';
import type { McpParts } from '../parts.ts';
import { explainError, type FailedCall } from './remedies.ts';

export interface OperationCall {
  operation: Operation;
  input: Record<string, unknown>;
  /** The names of the arguments as they are published. */
  fields?: readonly string[] | undefined;
  idempotency_key?: string | undefined;
  page_field: string | undefined;
  approver?: Approver | undefined;
  /** Aborts when the client no longer waits. */
  signal?: AbortSignal | undefined;
  /** Whether a rate limit has counted the call. */
  already_consumed?: boolean | undefined;
  /** Whether the client follows the task of a question by itself. */
  followsTask?: boolean | undefined;
  /** Makes the result from the output, where they differ. */
  toResult?: ((output: object) => object) | undefined;
}

/** A longer output is converted to a result in its own turn of the event loop. In characters. */
const maxTurnLength = 100_000;

/** Runs an operation for a caller and fits its output into one result. @throws what `execute` throws. */
export function runOperation(parts: McpParts, { actor }: Caller, call: OperationCall): Promise<FittedResult> {
  const { operation, input, fields, idempotency_key, page_field, approver, signal, followsTask, toResult } =
    call;
  let hasConsumed = call.already_consumed ?? false;
  const run = async (currentInput: Record<string, unknown>) => {
    const already_consumed = hasConsumed;
    hasConsumed = true;
    const { body, output } = await parts.execute({
      operation,
      actor,
      input: currentInput,
      fields,
      idempotency_key,
      already_consumed,
      approver,
      signal,
      followsTask,
    });
    if (!toResult) return { body, output };
    if (body.length > maxTurnLength) await ownTurn();
    const result = toResult(output);
    return { body: JSON.stringify(result), output: result };
  };
  return fitResult({ run, input, page_field });
}

/** Converts what an operation threw to a domain error. Logs internal errors with the request id that the caller gets. */
export function toOperationError(
  parts: McpParts,
  { actor, request_id }: Caller,
  call: FailedCall,
  thrown: unknown,
): { error: DomainError; body: { error: object } } {
  const error = toDomainError(thrown);
  if (error.status >= 500) {
    const fields = { request_id, operation: call.operation.name, agent_id: actor.agent_id };
    parts.logger.error({ err: error.cause ?? error, ...fields }, error.code);
  }
  const { retry_after } = error;
  const extra = { ...(retry_after !== undefined && { retry_after }), ...approvalFields(error) };
  const { details, approval: _approval, ...shown } = errorBody(error, request_id, 'call').error;
  // The message has every wrong field already.
  const reasons = details?.filter(({ reason }) => reason !== undefined) ?? [];
  const message = explainError(shown.message, error, call);
  return {
    error,
    body: { error: { ...shown, message, ...(reasons.length > 0 && { details: reasons }), ...extra } },
  };
}

/** Error fields that help to get a missing approval. */
function approvalFields({ code, approval }: DomainError): object {
  if (!approval) return {};
  const { id, expires_at, url } = approval;
  const reason = code === 'APPROVAL_DENIED' && { reason: 'approval_declined' };
  return { ...reason, approval_id: id, approval_url: url, expires_at };
}
