import { mismatchedKey } from '../../../packages/core/src/domain/errors.ts';
import { keepDifference, restoreAnswer } from '../../../packages/core/src/domain/kept-answers.ts';
import type { IdempotencyClaim, ReadWork, Work } from '../../work/unit-of-work.ts';
import type { Operation } from '../define.ts';
import type { Answer, Call, CallContext } from './context.ts';

/** The answer for an output. The output is parsed, so that no field leaves the service that the schema does not name. */
export function createAnswer(
  operation: Operation,
  { settings: { sealedBox }, actor }: Pick<Work, 'settings' | 'actor'>,
  input: unknown,
  result: object,
): Answer {
  const output = operation.output.parse(result);
  const body = JSON.stringify(output);
  const usualOutput = operation.usualOutput?.(actor, input);
  const kept_as = operation.confidential
    ? sealedBox.seal(body, operation.name).toString('base64')
    : usualOutput && keepDifference(output, usualOutput);
  return { body, output, replayed: false, kept_as };
}

/** The call that an answer is for. */
type AnsweredCall = Pick<CallContext, 'input'> & { call: Pick<Call, 'operation' | 'actor'> };

/**
 * The stored answer of an earlier call under the same key.
 * @throws {DomainError} IDEMPOTENCY_MISMATCH when the earlier request was another one
 */
export function replayAnswer(
  { call: { operation, actor }, input }: AnsweredCall,
  { settings: { sealedBox } }: Pick<ReadWork, 'settings'>,
  claim: IdempotencyClaim,
  stored: { request_hash: Buffer; answer: string },
): Answer {
  if (!stored.request_hash.equals(claim.request_hash)) throw mismatchedKey();
  const body = operation.confidential
    ? sealedBox.open(Buffer.from(stored.answer, 'base64'), operation.name)
    : restoreAnswer(stored.answer, () => operation.usualOutput?.(actor, input));
  return { body, output: JSON.parse(body), replayed: true };
}
