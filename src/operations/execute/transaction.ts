import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { createConcurrencyLimiter } from '../../shared/concurrency-limiter.ts';
import type { UnitOfWork, Work } from '../../work/unit-of-work.ts';
import type { Operation } from '../define.ts';
import { requireNoApproval } from './approval.ts';
import { type Stage, waitTimeoutMs } from './context.ts';
import { createAnswer } from './respond.ts';

/** Concurrent transactions for one batch key: a few, so that the next one is ready; not all connections of the pool. */
const maxPerBatchKey = 4;

/**
 * The last stage: runs the operation in a unit of work of its own. The answer is created inside, since it is stored with COMMIT.
 * @throws {DomainError} UNAVAILABLE, and what the operation throws
 */
export function createTransaction(unitOfWork: UnitOfWork): Stage {
  const limiter = createConcurrencyLimiter({
    maxConcurrent: maxPerBatchKey,
    timeoutMs: waitTimeoutMs,
    createError: () => {
      const message = 'Too many concurrent writes to this record; retry.';
      return new DomainError('UNAVAILABLE', message, { retry_after: 1 });
    },
  });

  return function transaction(operation) {
    return (context) => {
      const { input, claim } = context;
      const { actor } = context.call;
      const respond = async (work: Work) => {
        await requireNoApproval(context, work);
        const output = await operation.run(work, input, context.file, context.allowance);
        return createAnswer(operation, work, input, output);
      };
      if (operation.kind === 'read') return unitOfWork.read(actor, respond, canReadReplica(operation, input));
      const write = () => unitOfWork.write(actor, respond, claim);
      const batchKey = operation.batchKey?.(input);
      return batchKey === undefined ? write() : limiter.run(batchKey, write);
    };
  };
}

function canReadReplica({ replica }: Operation, input: unknown): boolean {
  const cursor: unknown = Object(input).cursor;
  return replica === 'any-page' || (replica === 'first-page' && cursor === undefined);
}
