import type { UnitOfWork } from '../../work/unit-of-work.ts';
import type { RateLimits } from '../rate-limits.ts';
import { createApproval } from './approval.ts';
import { createAwaitItems, type InboxWatches } from './await-items.ts';
import { type CallerFeed, createAwaitReply } from './await-reply.ts';
import { authorizeScope } from './authorize-scope.ts';
import { createBatch } from './batch.ts';
import type { Answer, Call, CallContext, Stage } from './context.ts';
import type { Intake } from './file-intake.ts';
import { createIdempotency } from './idempotency.ts';
import { padNotFound } from './pad-not-found.ts';
import { parseInputStage } from './parse-input.ts';
import { createOwnRateLimit, createRateLimit } from './rate-limit.ts';
import { createReceiveFile } from './receive-file.ts';
import { createTransaction } from './transaction.ts';

/** Runs one call of an operation, from any transport. @throws {DomainError} the refusal of the first stage that refuses */
export type Execute = (call: Call) => Promise<Answer>;

/** Every call of every operation runs through these stages, in this order (docs/decisions/0003-execute-stages.md). */
export function createExecute(
  unitOfWork: UnitOfWork,
  { limits, intake, feed }: { limits: RateLimits; intake: Intake; feed: CallerFeed & InboxWatches },
): Execute {
  const stages: readonly Stage[] = [
    authorizeScope,
    createRateLimit(limits),
    parseInputStage,
    createAwaitReply(unitOfWork, feed),
    createAwaitItems(unitOfWork, feed),
    createOwnRateLimit(unitOfWork, limits),
    padNotFound,
    createApproval(unitOfWork, limits),
    createReceiveFile(unitOfWork, intake),
    createIdempotency(unitOfWork),
    createBatch(unitOfWork),
    createTransaction(unitOfWork),
  ];
  return (call) => runStages(stages, createContext(call), 0);
}

function createContext(call: Call): CallContext {
  return {
    call,
    input: undefined,
    isBudgetConsumed: call.already_consumed === true,
    allowance: null,
    approval: null,
    file: null,
    claim: null,
  };
}

async function runStages(stages: readonly Stage[], context: CallContext, at: number): Promise<Answer> {
  const stage = stages[at];
  if (!stage) throw new Error('The last stage must answer.');
  return stage(context, () => runStages(stages, context, at + 1));
}
