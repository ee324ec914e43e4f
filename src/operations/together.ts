import type { Actor } from '../domain/actor.ts';
import { DomainError } from '../domain/errors.ts';
import type { IdempotencyClaim, Shared, SharedWrite, UnitOfWork, Work } from '../unit-of-work.ts';
import { type Answer, answerOf } from './answer.ts';
import type { Operation } from './define.ts';
import { gathering } from './gathering.ts';

/** A call that may share a transaction with others of its operation. */
export interface SharedCall {
  operation: Operation;
  actor: Actor;
  claim: IdempotencyClaim | null;
  input: unknown;
  /** What it must have for itself, beside the calls that it shares the transaction with. */
  place: string | undefined;
  /** The same in a transaction of its own. */
  alone(): Promise<Answer>;
}

interface Waiting extends SharedCall, SharedWrite {
  resolve(answer: Answer | Promise<Answer>): void;
  reject(error: unknown): void;
}

type Batch = Parameters<Parameters<typeof gathering<Waiting>>[0]['depart']>[0];

/** One in the database while the other one is made ready; more would only make batches smaller. */
const lanes = 2;
const mostTogether = 100;
const patience_ms = 10_000;

/**
 * Runs calls of one operation that come at the same time in one transaction: what a commit costs, they share. Each call is answered
 * by itself, after the commit; one that cannot be done in company, and all of them when the transaction fails, are run alone.
 */
export function createTogether(unitOfWork: UnitOfWork): (call: SharedCall) => Promise<Answer> {
  const gatherings = new Map<Operation, ReturnType<typeof gathering<Waiting>>>();

  async function depart(operation: Operation, batch: Batch): Promise<void> {
    const outcomes = await runShared(
      unitOfWork,
      operation,
      batch.map(({ item }) => item),
    );
    for (const [at, { item, settled }] of batch.entries()) {
      const outcome = outcomes[at] ?? null;
      if (outcome === null) {
        // Whoever holds what it waits for must not hold up the others.
        const alone = item.alone();
        item.resolve(alone);
        void alone.then(settled, settled);
      } else {
        settled();
        if (outcome instanceof Error) item.reject(outcome);
        else item.resolve(outcome);
      }
    }
  }

  function gatheringOf(operation: Operation): ReturnType<typeof gathering<Waiting>> {
    const known = gatherings.get(operation);
    if (known) return known;
    const made = gathering<Waiting>({
      lanes,
      most: mostTogether,
      patience: patience_ms,
      placeOf: ({ place }) => place,
      depart: (batch) => depart(operation, batch),
    });
    gatherings.set(operation, made);
    return made;
  }

  return (call) =>
    new Promise((resolve, reject) => {
      const item = { ...call, trace: unitOfWork.trace(), resolve, reject };
      gatheringOf(call.operation)(item, () => reject(tooMany()));
    });
}

function tooMany(): DomainError {
  return new DomainError('UNAVAILABLE', 'Too many write at once; try again.', { retry_after: 1 });
}

/** Each with its answer or its refusal; null for those that are to be run alone. */
async function runShared(
  unitOfWork: UnitOfWork,
  operation: Operation,
  calls: readonly Waiting[],
): Promise<readonly Shared<Answer>[]> {
  try {
    return await unitOfWork.writeTogether(calls, (shared) => runFresh(operation, shared));
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
): Promise<readonly Shared<Answer>[]> {
  const known = await knownKeys(shared);
  const fresh = shared.filter(({ call }) => !known.has(nameOf(call) ?? ''));
  const outputs = await operation.shared?.run(fresh.map(({ call, work }) => ({ work, input: call.input })));
  const outcomes = new Map(
    fresh.map(({ call, work }, at): [Waiting, Shared<Answer>] => {
      const output = outputs?.[at] ?? null;
      return [
        call,
        output === null || output instanceof DomainError ? output : answerOf(operation, work, output),
      ];
    }),
  );
  return shared.map(({ call }) => outcomes.get(call) ?? null);
}

/** One alone need not look: it undoes nobody but itself. */
async function knownKeys(shared: readonly { call: Waiting; work: Work }[]): Promise<ReadonlySet<string>> {
  const keys = shared.flatMap(({ call: { claim } }) => (claim ? [claim.key_hash] : []));
  const [first, second] = shared;
  if (!first || !second || keys.length === 0) return new Set();
  const known = await first.work.idempotencyKeys.listKnown(keys);
  return new Set(known.map((key) => key.toString('base64')));
}

function nameOf({ claim }: Waiting): string | undefined {
  return claim?.key_hash.toString('base64');
}
