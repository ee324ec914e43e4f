import type { UnitOfWork } from '../../work/unit-of-work.ts';
import type { Operation } from '../define.ts';
import type { RateLimits } from '../rate-limits.ts';
import { createApproval } from './approval.ts';
import { createAwaitItems, type InboxWatches } from './await-items.ts';
import { type CallerFeed, createAwaitReply } from './await-reply.ts';
import { authorizeScope } from './authorize-scope.ts';
import { createBatch } from './batch.ts';
import type { Answer, Call, CallContext, Run, Stage } from './context.ts';
import type { Intake } from './file-intake.ts';
import { createIdempotency } from './idempotency.ts';
import { padNotFound } from './pad-not-found.ts';
import { parse } from './parse-input.ts';
import { createOwnRateLimit, createRateLimit } from './rate-limit.ts';
import { createReview } from './review.ts';
import { createReceiveFile } from './receive-file.ts';
import { createTransaction } from './transaction.ts';

/** Runs one call of an operation, from any transport. @throws {DomainError} the refusal of the first stage that refuses */
export type Execute = (call: Call) => Promise<Answer>;

/**
 * Creates the stages of calls, in their order (docs/decisions/0003-execute-stages.md). Several of them know the calls of a process, so the
 * transports share them.
 */
export function createStages(
  unitOfWork: UnitOfWork,
  { limits, intake, feed }: { limits: RateLimits; intake: Intake; feed: CallerFeed & InboxWatches },
): readonly Stage[] {
  return [
    authorizeScope,
    createRateLimit(limits),
    parse,
    createAwaitReply(unitOfWork, feed),
    createAwaitItems(unitOfWork, feed),
    padNotFound,
    createOwnRateLimit(unitOfWork, limits),
    createApproval(unitOfWork, limits),
    createReview(unitOfWork),
    createReceiveFile(unitOfWork, intake),
    createIdempotency(unitOfWork),
    createBatch(unitOfWork),
    createTransaction(unitOfWork),
  ];
}

/** Returns what runs a call of an operation, and the names of the stages that it declares, in their order. */
export function stagesOf(stages: readonly Stage[], operation: Operation): { run: Run; names: string[] } {
  const names: string[] = [];
  let run: Run = () => Promise.reject(new Error('The last stage must answer.'));
  for (const stage of stages.toReversed()) {
    const wrapped = stage(operation, run);
    if (wrapped !== run) names.unshift(stage.name);
    run = wrapped;
  }
  return { run, names };
}

/** Creates `execute`. The stages of an operation are put together at its first call. */
export function createExecute(stages: readonly Stage[]): Execute {
  const runs = new WeakMap<Operation, Run>();

  return function execute(call) {
    let run = runs.get(call.operation);
    if (!run) {
      ({ run } = stagesOf(stages, call.operation));
      runs.set(call.operation, run);
    }
    return run(createContext(call));
  };
}

function createContext(call: Call): CallContext {
  return {
    call,
    input: undefined,
    isBudgetConsumed: call.already_consumed === true,
    allowance: null,
    file: null,
    claim: null,
  };
}
