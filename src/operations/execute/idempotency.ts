import { system } from '../../../packages/core/src/domain/auth/audit.ts';
import { createHash } from 'node:crypto';
import { DomainError, wrongField } from '../../../packages/core/src/domain/errors.ts';
import { toCanonicalJson } from '../../../packages/core/src/domain/canonical-json.ts';
import { createConcurrencyLimiter } from '../../shared/concurrency-limiter.ts';
import type { IdempotencyClaim, UnitOfWork } from '../../work/unit-of-work.ts';
import { idempotencyKeyPattern } from '../../../packages/core/src/inputs/fields.ts';
import { type Answer, type Call, type CallContext, type Stage, waitTimeoutMs } from './context.ts';
import { replayAnswer } from './respond.ts';

/**
 * Gives repeated writes under one key the first answer. In this process the calls of one key run one after the other; between processes
 * the row of the key decides, which is inserted with COMMIT.
 * @throws {DomainError} IDEMPOTENCY_IN_PROGRESS, IDEMPOTENCY_MISMATCH, VALIDATION_ERROR, UNAVAILABLE
 */
export function createIdempotency(unitOfWork: UnitOfWork): Stage {
  const keys = createConcurrencyLimiter({
    maxConcurrent: 1,
    timeoutMs: waitTimeoutMs,
    createError: () => {
      const message = 'The first request with this key is still running.';
      return new DomainError('IDEMPOTENCY_IN_PROGRESS', message, { retry_after: 1 });
    },
  });

  return function idempotency(operation, next) {
    if (operation.kind === 'read' || operation.itemWait) return next;
    return async (context) => {
      const claim = createClaim(context);
      context.claim = claim;
      if (!claim) return next(context);
      return keys.run(claim.key_hash.toString('base64'), async (hasWaited) => {
        // Most keys are used once, so the answer is not looked up first, except after a call with the same key.
        const stored = hasWaited && (await findStoredAnswer(unitOfWork, context, claim));
        if (stored) return stored;
        try {
          return await next(context);
        } catch (error) {
          return await findAnswerAfter(error, unitOfWork, context, claim);
        }
      });
    };
  };
}

/** The call may have failed because its key is used: only the stored answer tells. Without the database, it is unknown. */
async function findAnswerAfter(
  error: unknown,
  unitOfWork: UnitOfWork,
  context: CallContext,
  claim: IdempotencyClaim,
) {
  // A database that did not answer just now does not answer this query either.
  if (isUnavailable(error)) throw error;
  let stored: { request_hash: Buffer; answer: string } | undefined;
  try {
    stored = await findAnswer(unitOfWork, claim);
  } catch (failure) {
    throw isUnavailable(failure) ? failure : error;
  }
  if (!stored) throw error;
  return replayAnswer(context, unitOfWork, claim, stored);
}

/**
 * The answer of an earlier call under this key, if there is one.
 * @throws {DomainError} IDEMPOTENCY_MISMATCH
 */
export async function findStoredAnswer(
  unitOfWork: UnitOfWork,
  context: CallContext,
  claim: IdempotencyClaim,
): Promise<Answer | undefined> {
  const stored = await findAnswer(unitOfWork, claim);
  return stored && replayAnswer(context, unitOfWork, claim, stored);
}

/** Finds the stored answer of a claim, if its effect is committed. */
function findAnswer(unitOfWork: UnitOfWork, claim: IdempotencyClaim) {
  return unitOfWork.read(system, ({ db }) => db.idempotencyKeys.find(claim.key_hash));
}

function isUnavailable(error: unknown): boolean {
  return error instanceof DomainError && error.code === 'UNAVAILABLE';
}

/** @throws {DomainError} VALIDATION_ERROR when the key is not 1 to 255 visible ASCII characters */
export function requireValidKey(key: string | undefined): void {
  if (key === undefined || idempotencyKeyPattern.test(key)) return;
  throw wrongField('Idempotency-Key', 'must be 1 to 255 visible ASCII characters');
}

/** What a claim is made of. */
interface ClaimedCall extends Pick<CallContext, 'input' | 'file'> {
  call: Pick<Call, 'operation' | 'actor' | 'idempotency_key'>;
}

/**
 * The key and the request of a call; null without a key. The scope of a key is the agent, the REST method and the filled-in REST path,
 * over every transport. A file counts by its bytes, name and type.
 * @throws {DomainError} VALIDATION_ERROR
 */
export function createClaim({ call, input, file }: ClaimedCall): IdempotencyClaim | null {
  const { operation, actor, idempotency_key: key } = call;
  if (key === undefined) return null;
  requireValidKey(key);
  const fields = new Map(Object.entries(input ?? {}));
  const path = operation.rest?.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(fields.get(name)));
  const scope = JSON.stringify([actor.agent_id, operation.rest?.method, path ?? operation.name, key]);
  const request = file
    ? { input, sha256: file.sha256, filename: file.filename, content_type: file.content_type }
    : input;
  return { key_hash: sha256(scope), request_hash: sha256(toCanonicalJson(request)) };
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
