import type { Actor } from '../../domain/auth/actor.ts';
import { DomainError } from '../../domain/errors.ts';
import type {
  IdempotencyClaim,
  BatchResult,
  BatchedWrite,
  UnitOfWork,
  Work,
} from '../../work/unit-of-work.ts';
import { type Answer, createAnswer } from './answer.ts';
import type { Operation } from '../define.ts';
import { createBatcher } from '../../shared/batcher.ts';

/** A call that may share a transaction with others of its operation. */
export interface BatchCall {
  operation: Operation;
  actor: Actor;
  claim: IdempotencyClaim | null;
  input: unknown;
  /** What it must have for itself, beside the calls that it shares the transaction with. */
  batchKey: string | undefined;
  /** The same in a transaction of its own. */
  runAlone(): Promise<Answer>;
}

interface Waiting extends BatchCall, BatchedWrite {
  resolve(answer: Answer | Promise<Answer>): void;
  reject(error: unknown): void;
}

type Batch = Parameters<Parameters<typeof createBatcher<Waiting>>[0]['run']>[0];

/** One in the database while the other one is made ready; more would only make batches smaller. */
const maxConcurrent = 2;
const maxBatchSize = 100;
const waitTimeoutMs = 10_000;

/**
 * Runs calls of one operation that come at the same time in one transaction: what a commit costs, they share. Each call is answered
 * by itself, after the commit; one that cannot be done in company, and all of them when the transaction fails, are run alone.
 */
export function createBatching(unitOfWork: UnitOfWork): (call: BatchCall) => Promise<Answer> {
  const gatherings = new Map<Operation, ReturnType<typeof createBatcher<Waiting>>>();

  async function depart(operation: Operation, batch: Batch): Promise<void> {
    const outcomes = await runBatch(
      unitOfWork,
      operation,
      batch.map(({ item }) => item),
    );
    for (const [at, { item, settle }] of batch.entries()) {
      const outcome = outcomes[at] ?? null;
      if (outcome === null) {
        // Whoever holds what it waits for must not hold up the others.
        const alone = item.runAlone();
        item.resolve(alone);
        void alone.then(settle, settle);
      } else {
        settle();
        if (outcome instanceof Error) item.reject(outcome);
        else item.resolve(outcome);
      }
    }
  }

  function gatheringOf(operation: Operation): ReturnType<typeof createBatcher<Waiting>> {
    const known = gatherings.get(operation);
    if (known) return known;
    const made = createBatcher<Waiting>({
      maxConcurrent,
      maxBatchSize,
      timeoutMs: waitTimeoutMs,
      keyOf: ({ batchKey }) => batchKey,
      run: (batch) => depart(operation, batch),
    });
    gatherings.set(operation, made);
    return made;
  }

  return (call) =>
    new Promise((resolve, reject) => {
      const item = { ...call, trace: unitOfWork.currentTrace(), resolve, reject };
      gatheringOf(call.operation)(item, () => reject(tooMany()));
    });
}

function tooMany(): DomainError {
  return new DomainError('UNAVAILABLE', 'Too many write at once; try again.', { retry_after: 1 });
}

/** Each with its answer or its refusal; null for those that are to be run alone. */
async function runBatch(
  unitOfWork: UnitOfWork,
  operation: Operation,
  calls: readonly Waiting[],
): Promise<readonly BatchResult<Answer>[]> {
  try {
    return await unitOfWork.writeBatch(calls, (shared) => runFresh(operation, shared));
  } catch (error) {
    // Nobody knows whether it was done, or the database cannot do anything just now.
    const lost = error instanceof DomainError && error.code === 'UNAVAILABLE';
    return calls.map(() => (lost ? error : null));
  }
}

/** Those whose key has an answer already would undo the others: they are left to be run alone, which finds that answer. */
async function runFresh(
  operation: Operation,
  shared: readonly { call: Waiting; work: Work }[],
): Promise<readonly BatchResult<Answer>[]> {
  const known = await findUsedKeys(shared);
  const fresh = shared.filter(({ call }) => !known.has(keyName(call) ?? ''));
  const outputs = await operation.batch?.run(fresh.map(({ call, work }) => ({ work, input: call.input })));
  const outcomes = new Map(
    fresh.map(({ call, work }, at): [Waiting, BatchResult<Answer>] => {
      const output = outputs?.[at] ?? null;
      return [
        call,
        output === null || output instanceof DomainError ? output : createAnswer(operation, work, output),
      ];
    }),
  );
  return shared.map(({ call }) => outcomes.get(call) ?? null);
}

/** One alone need not look: it undoes nobody but itself. */
async function findUsedKeys(shared: readonly { call: Waiting; work: Work }[]): Promise<ReadonlySet<string>> {
  const keys = shared.flatMap(({ call: { claim } }) => (claim ? [claim.key_hash] : []));
  const [first, second] = shared;
  if (!first || !second || keys.length === 0) return new Set();
  const known = await first.work.idempotencyKeys.listAnswered(keys);
  return new Set(known.map((key) => key.toString('base64')));
}

function keyName({ claim }: Waiting): string | undefined {
  return claim?.key_hash.toString('base64');
}
