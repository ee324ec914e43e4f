import { system } from '../../../packages/core/src/domain/auth/audit.ts';
import { ConcurrentChange, DomainError } from '../../../packages/core/src/domain/errors.ts';
import { createBatcher } from '../../shared/batcher.ts';
import type { BatchedWrite, BatchResult, UnitOfWork, Work } from '../../work/unit-of-work.ts';
import type { Operation } from '../define.ts';
import { type Answer, type CallContext, mayNeedApproval, type Stage, waitTimeoutMs } from './context.ts';
import { createAnswer } from './respond.ts';

/** The result of a batch for one call; null if the call must run by itself. `settle` lets further calls of its batch key run. */
interface Joined {
  result: BatchResult<Answer>;
  settle(): void;
}

/** A call that waits for its batch. */
interface BatchedCall extends BatchedWrite {
  context: CallContext;
  batchKey: string | undefined;
  onResult(joined: Joined): void;
}

interface Batcher {
  add: ReturnType<typeof createBatcher<BatchedCall>>;
  /** Calls that wait for their batch, or run. */
  calls: number;
}

/** One batch is prepared while the other one is in the database; more would only make batches smaller. */
const maxConcurrent = 2;
const maxBatchSize = 100;

/**
 * Runs concurrent calls of one operation in one transaction, with one COMMIT. Each call gets its own answer after the commit. A call that
 * would wait for a lock, and every call of a failed transaction, continues with the next stage: a transaction of its own.
 * @throws {DomainError} UNAVAILABLE, and what the operation refuses with
 */
export function createBatch(unitOfWork: UnitOfWork): Stage {
  /** By operation, and by agent where a batch has one agent; each as long as it has calls. */
  const batchers = new Map<string, Batcher>();

  function findBatcher(operation: Operation, key: string): Batcher {
    const existing = batchers.get(key);
    if (existing) return existing;
    const add = createBatcher<BatchedCall>({
      maxConcurrent,
      maxBatchSize,
      timeoutMs: waitTimeoutMs,
      keyOf: ({ batchKey }) => batchKey,
      async run(batch) {
        const results = await runBatch(
          unitOfWork,
          operation,
          batch.map(({ item }) => item),
        );
        for (const [at, { item, settle }] of batch.entries())
          item.onResult({ result: results[at] ?? null, settle });
      },
    });
    const batcher = { add, calls: 0 };
    batchers.set(key, batcher);
    return batcher;
  }

  return function batch(operation, next) {
    const { batch: rule } = operation;
    if (!rule) return next;
    return async (context) => {
      const { call, file } = context;
      const isIncluded = rule.includes?.(context.input) ?? true;
      if (file || !isIncluded || mayNeedApproval(call)) return next(context);
      const key = rule.byAgent ? `${operation.name} ${call.actor.agent_id}` : operation.name;
      const batcher = findBatcher(operation, key);
      batcher.calls += 1;
      let settleKey: (() => void) | undefined;
      try {
        const { result, settle } = await new Promise<Joined>((onResult, reject) => {
          const batched = {
            context,
            actor: call.actor,
            claim: context.claim,
            trace: unitOfWork.currentTrace(),
          };
          const batchKey = operation.batchKey?.(context.input);
          batcher.add({ ...batched, batchKey, onResult }, () => reject(tooManyWrites()));
        });
        settleKey = settle;
        if (result instanceof DomainError) throw result;
        return result ?? (await next(context));
      } finally {
        settleKey?.();
        batcher.calls -= 1;
        if (batcher.calls === 0) batchers.delete(key);
      }
    };
  };
}

function tooManyWrites(): DomainError {
  return new DomainError('UNAVAILABLE', 'Too many concurrent writes; retry.', { retry_after: 1 });
}

/**
 * The result of each call; null for those that need a transaction of their own. After a ConcurrentChange the calls whose keys have no answer
 * run again, once.
 */
async function runBatch(
  unitOfWork: UnitOfWork,
  operation: Operation,
  calls: readonly BatchedCall[],
  isRepeated = false,
): Promise<readonly BatchResult<Answer>[]> {
  try {
    try {
      return await unitOfWork.writeBatch(calls, runAll(operation, isRepeated));
    } catch (error) {
      if (error instanceof ConcurrentChange && !isRepeated) return await repeat(unitOfWork, operation, calls);
      throw error;
    }
  } catch (error) {
    // Whether the commit took effect is unknown, or the database does not answer: do not run the calls again.
    const isUnavailable = error instanceof DomainError && error.code === 'UNAVAILABLE';
    return calls.map(() => (isUnavailable ? error : null));
  }
}

async function repeat(
  unitOfWork: UnitOfWork,
  operation: Operation,
  calls: readonly BatchedCall[],
): Promise<readonly BatchResult<Answer>[]> {
  const hashes = listKeyHashes(calls);
  const used =
    hashes.length > 0
      ? await unitOfWork.read(system, ({ db }) => db.idempotencyKeys.listAnswered(hashes))
      : [];
  const usedKeys = new Set(used.map((hash) => hash.toString('base64')));
  const newCalls = calls.filter((call) => !usedKeys.has(toKeyName(call) ?? ''));
  const results = newCalls.length > 0 ? await runBatch(unitOfWork, operation, newCalls, true) : [];
  const resultOf = new Map(newCalls.map((call, at) => [call, results[at] ?? null]));
  return calls.map((call) => resultOf.get(call) ?? null);
}

interface Item {
  call: BatchedCall;
  work: Work;
}

/**
 * Runs the calls of a batch. The check of the keys is sent with the first statements of the operation.
 * @throws {ConcurrentChange} when a key has an answer: its second row would fail the commit
 */
function runAll(operation: Operation, isRepeated: boolean) {
  return async (items: readonly Item[]): Promise<readonly BatchResult<Answer>[]> => {
    requireUnusedKeys(items);
    const outputs = await operation.batch?.run(
      items.map(({ call, work }) => ({ work, input: call.context.input })),
      { isRepeated },
    );
    return items.map(({ call, work }, at): BatchResult<Answer> => {
      const output = outputs?.[at] ?? null;
      const isAnswer = output !== null && !(output instanceof DomainError);
      return isAnswer ? createAnswer(operation, work, call.context.input, output) : output;
    });
  };
}

/** A single call needs no check, because it cannot fail other calls. */
function requireUnusedKeys(items: readonly Item[]): void {
  const hashes = listKeyHashes(items.map(({ call }) => call));
  const [first, second] = items;
  if (first && second && hashes.length > 0)
    first.work.changes.defer(first.work.db.idempotencyKeys.requireUnused(hashes));
}

function listKeyHashes(calls: readonly BatchedCall[]): Buffer[] {
  return calls.flatMap(({ claim }) => (claim ? [claim.key_hash] : []));
}

function toKeyName({ claim }: BatchedCall): string | undefined {
  return claim?.key_hash.toString('base64');
}
