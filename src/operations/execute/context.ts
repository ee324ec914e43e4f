import type { ApprovalDecision } from '../../../packages/core/src/domain/approvals.ts';
import type { StoredFile } from '../../../packages/core/src/domain/attachments/attachments.ts';
import type { Actor } from '../../../packages/core/src/domain/auth/actor.ts';
import type { OnBudget } from '../../../packages/core/src/domain/limits.ts';
import type { Approval } from '../../services/approvals/approvals.ts';
import type { IdempotencyClaim } from '../../work/unit-of-work.ts';
import type { Operation } from '../define.ts';
import type { Allowance } from '../rate-limits.ts';

/** How long a call waits for its batch, for another call with its idempotency key, or for other writes to its record. */
export const waitTimeoutMs = 10_000;

/** How a transport asks the person who uses its client for an approval. */
export interface Approver {
  /** The program that the person uses, as it names itself. */
  client_name: string | null;
  /** The ids of approvals that the person has answered in earlier rounds of this call. */
  answered: readonly string[];
  /** Aborts when the caller no longer waits for the response. */
  signal: AbortSignal;
  /**
   * Asks in the program, where it can, and waits for a limited time.
   * @param settled aborts when the approval is decided elsewhere.
   * @returns undefined when the person did not decide in the program.
   */
  ask(approval: Approval, settled: AbortSignal): Promise<ApprovalDecision | undefined>;
  /** Checks, after the person decided, that the caller's token is still valid. @throws {DomainError} UNAUTHORIZED */
  confirm(): Promise<void>;
}

/** A call as a transport makes it. */
export interface Call {
  operation: Operation;
  actor: Actor;
  /** Not yet parsed. */
  input: unknown;
  /** The names of the input fields as the transport publishes them, for errors. Default: those of the operation. */
  fields?: readonly string[] | undefined;
  idempotency_key?: string | undefined;
  /** Receives the state of each budget that this call is counted against. */
  onRateLimit?: OnBudget | undefined;
  /** Whether the call was counted already, as part of an earlier one. */
  already_consumed?: boolean | undefined;
  /** Aborts when the caller no longer waits for the response. */
  signal?: AbortSignal | undefined;
  /** Whether the caller follows the task of a question by itself: then the call does not wait for the answer. */
  followsTask?: boolean | undefined;
  /** Given by transports whose callers need a person's approval for some operations. */
  approver?: Approver | undefined;
}

export interface Answer {
  /** The answer as JSON text, byte for byte the same for a repeated call. */
  body: string;
  /** The same as an object. */
  output: object;
  replayed: boolean;
  /** The stored response for repeated calls, if it differs from `body`. */
  kept_as?: string | undefined;
}

/** What the stages know about one call. Each stage sets what the later ones read. */
export interface CallContext {
  readonly call: Call;
  /** The parsed input; set by `parseInputStage`. */
  input: unknown;
  /** Whether the call was counted against the operation's own budget. */
  isBudgetConsumed: boolean;
  /** What the operation's own budget allows; null when the call was not counted against it. */
  allowance: Allowance | null;
  /** The stored file of the call; set by the stage that receives it. */
  file: StoredFile | null;
  /** Set by the idempotency stage. */
  claim: IdempotencyClaim | null;
}

/** Runs a call from one stage on. */
export type Run = (context: CallContext) => Promise<Answer>;

/**
 * One step of the calls of an operation, around the steps after it: it throws, answers by itself, or returns what `next` answers. It returns
 * `next` itself for an operation that does not need the step. Its name shows in the list of stages.
 */
export type Stage = (operation: Operation, next: Run) => Run;

/** Whether a person may have to approve or review calls of an operation, which the caller's program can then ask. */
export function mayAskPerson({ approval, review }: Operation): boolean {
  return approval !== undefined || review !== undefined;
}

/** Whether a person has to approve this call, unless it would change nothing. */
export function mayNeedApproval({ operation, approver }: Call): boolean {
  return operation.approval !== undefined && approver !== undefined;
}
