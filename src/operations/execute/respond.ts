import { mismatchedKey } from '../../../packages/core/src/domain/errors.ts';
import type { IdempotencyClaim, ReadWork } from '../../work/unit-of-work.ts';
import type { Operation } from '../define.ts';
import type { Answer } from './context.ts';

/** The answer for an output. The output is parsed, so that no field leaves the service that the schema does not name. */
export function createAnswer(
  operation: Operation,
  { settings: { sealedBox } }: Pick<ReadWork, 'settings'>,
  result: object,
): Answer {
  const output = operation.output.parse(result);
  const body = JSON.stringify(output);
  const kept = operation.confidential && { kept_as: sealedBox.seal(body, operation.name).toString('base64') };
  return { body, output, replayed: false, ...kept };
}

/**
 * The stored answer of an earlier call under the same key.
 * @throws {DomainError} IDEMPOTENCY_MISMATCH when the earlier request was another one
 */
export function replayAnswer(
  operation: Operation,
  { settings: { sealedBox } }: Pick<ReadWork, 'settings'>,
  claim: IdempotencyClaim,
  stored: { request_hash: Buffer; answer: string },
): Answer {
  if (!stored.request_hash.equals(claim.request_hash)) throw mismatchedKey();
  const body = operation.confidential
    ? sealedBox.open(Buffer.from(stored.answer, 'base64'), operation.name)
    : stored.answer;
  return { body, output: JSON.parse(body), replayed: true };
}
