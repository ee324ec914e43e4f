import type { z } from 'zod';
import type { ApprovalAction } from '../domain/approvals.ts';
import type { StoredFile } from '../domain/attachments/attachments.ts';
import type { ErrorCode } from '../domain/errors.ts';
import type { ActionBudget } from '../domain/limits.ts';
import type { Scope } from '../domain/auth/scopes.ts';
import type { BatchResult, Work } from '../work/unit-of-work.ts';
import type { IncomingFile } from './execute/file-intake.ts';

export interface RestBinding<Output extends object = object> {
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** Relative to /v1; `{name}` is a field of the input. */
  path: string;
  /** Whether the path is served under `/agents/{owner}/{agent_name}` too, where these two must name the acting agent. */
  forms?: 'short-and-long';
  status: 200 | 201 | 204 | 302;
  /** Whether the request must or may carry an Idempotency-Key. Absent: the header means nothing here. */
  idempotency?: 'required' | 'accepted';
  /** The address of what was made, relative to /v1. */
  location?(output: Output): string;
  /** For status 302: the whole address that the caller is sent to. */
  redirect?(output: Output): string;
  /** The field of the input that is the one file of a multipart/form-data body. */
  upload?: string;
}

export interface ToolBinding {
  /** Where REST and MCP call it differently. */
  name?: string;
  description: string;
  annotations: {
    readOnlyHint: boolean;
    destructiveHint: boolean;
    idempotentHint: boolean;
    openWorldHint: boolean;
  };
}

export interface ResourceBinding {
  /** A URI, or a template whose `{name}` is a field of the input. */
  uri: string;
  name: string;
  description: string;
  /** How its `{id}` is completed. */
  completes?: CompletionSource;
}

/** Where the values of an argument come from. */
export interface CompletionSource {
  operation: Operation;
  input: Record<string, unknown>;
  /** The values in an answer, each with the words by which people know it; and whether there are more. */
  values(output: object): { values: { value: string; label: string }[]; hasMore: boolean };
}

/** What people are asked before a face that has to ask them runs the operation (interface.md, Authentication, 5). */
export interface ApprovalRule<Input = unknown> {
  action: ApprovalAction;
  /**
   * What the question is about; null when the call would change nothing, so that nobody need be asked. Looks only, and refuses
   * what `run` would refuse: nobody is asked for that.
   */
  subject(work: Work, input: Input): Promise<{ target: string; message: string | null } | null>;
}

/**
 * One thing that an agent can do: defined once, called through every face. A plain object; no transport's type in it.
 * `run` has method syntax on purpose: a catalogue of different operations then has one type without casts.
 */
export interface Operation<Input = unknown, Output extends object = object> {
  /** snake_case; unique. */
  name: string;
  summary: string;
  /** The scope that a token must hold, or `any` for every valid token. */
  scope: Scope | 'any';
  /** A read runs without a transaction; a write runs in one, together with its events and its idempotency key. */
  kind: 'read' | 'write';
  input: z.ZodType<Input>;
  output: z.ZodType<Output>;
  /** What it refuses with, beside what every operation does and what having a cursor brings (INVALID_CURSOR). */
  errors: readonly ErrorCode[];
  /** One call as it could be, for the description of the interface; path parameters stand in the input too. */
  example: { input: Record<string, unknown>; output: Output };
  /**
   * The file that a call brings, if it does. It is stored before the unit of work opens, so that no transaction waits for bytes;
   * `run` gets what is known of it. May read, and refuse.
   */
  file?(work: Work, input: Input): Promise<IncomingFile | null>;
  run(work: Work, input: Input, file: StoredFile | null): Promise<Output>;
  /**
   * Runs several calls in one transaction. Each gets its own result, in their order; null for a call that would have to wait for a lock,
   * which then runs by `run`. A refused call must leave nothing behind.
   */
  runBatch?(calls: readonly { work: Work; input: Input }[]): Promise<readonly BatchResult<Output>[]>;
  /** Its answer holds what nobody may read in the database: it is kept sealed for repetitions of the call. */
  confidential?: boolean;
  /** What a write must have for itself: calls that name the same wait outside the database, a few at a time inside. */
  batchKey?(input: Input): string;
  /**
   * That a read replica may answer, once it has replayed all that the caller did and was told of. `any-page`: the caller is told of every
   * change of what it shows; `first-page`: of others it is not, so that what stands behind a cursor comes from the primary, which
   * is never behind the page before. Absent: what decides on access, or is quickly found.
   */
  replica?: 'any-page' | 'first-page';
  /** The budget that calls are taken from. Absent: the one that everything else shares. */
  limit?: ActionBudget;
  /** What that budget is counted by besides the agent. */
  limitKey?(input: Input): string;
  rest?: RestBinding<Output>;
  tool?: ToolBinding;
  approval?: ApprovalRule<Input>;
  resource?: ResourceBinding;
}

/** Lets TypeScript read the types of an operation from its schemas. */
export function defineOperation<Input, Output extends object>(
  operation: Operation<Input, Output>,
): Operation<Input, Output> {
  return operation;
}

/** Annotations of tools, by what they do (MCP, Tool annotations). */
export const toolHints = {
  read: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  write: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
} as const;
