import { z } from 'zod';
import type { ApprovalAction } from '../../packages/core/src/domain/approvals.ts';
import type { Actor } from '../../packages/core/src/domain/auth/actor.ts';
import type { StoredFile } from '../../packages/core/src/domain/attachments/attachments.ts';
import type { ErrorCode } from '../../packages/core/src/domain/errors.ts';
import type { NextItem } from '../../packages/core/src/domain/inbox.ts';
import type { ActionBudget } from '../../packages/core/src/domain/limits.ts';
import type { RequiredScope } from '../../packages/core/src/domain/auth/scopes.ts';
import type { BatchResult, Work } from '../work/unit-of-work.ts';
import type { IncomingFile } from './execute/file-intake.ts';
import type { Allowance } from './rate-limits.ts';

export interface RestBinding<Output extends object = object> {
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** Relative to /v1; `{name}` is a field of the input. */
  path: string;
  /** Whether the path also exists under `/agents/{owner}/{agent_name}`, which must name the acting agent. */
  forms?: 'short-and-long';
  status: 200 | 201 | 204 | 302;
  /** Whether the request must or may have an Idempotency-Key. Absent: the header is ignored. */
  idempotency?: 'required' | 'accepted';
  /** The path of the created record, relative to /v1. */
  location?(output: Output): string;
  /** For status 302: the absolute URL of the redirect. */
  redirect?(output: Output): string;
  /** The input field for the single file of a multipart/form-data body. */
  upload?: string;
}

export interface ToolBinding {
  /** Where the tool's name differs from the operation's. */
  name?: string;
  description: string;
  /** Fields of the input that the tool does not publish: no caller of it may set them. */
  unpublished?: readonly string[];
  annotations: {
    readOnlyHint: boolean;
    destructiveHint: boolean;
    /** For writes only. Absent: false. */
    idempotentHint?: boolean;
    openWorldHint: boolean;
  };
  /** The result, where it is not the output: a model that has just sent a text does not need it again. */
  result?: { schema: z.ZodType; from(output: object): object };
  /** Whether the result shows the position of the agent's feed before the call, and the number of pending events. */
  showsFeed?: boolean;
}

export interface ResourceBinding {
  /** A URI, or a template whose `{name}` is a field of the input. */
  uri: string;
  name: string;
  description: string;
  /** How its `{id}` is completed. */
  completes?: CompletionSource;
}

/** An operation whose output has the values of an argument. */
export interface CompletionSource {
  operation: Operation;
  input: Record<string, unknown>;
  /** The values in an output, each with a label for people; and whether there are more. */
  values(output: object): { values: { value: string; label: string }[]; hasMore: boolean };
}

/** The question to a person before the operation runs, on transports that need approval. */
export interface ApprovalRule<Input = unknown> {
  action: ApprovalAction;
  /**
   * The subject of the question; null when the call would change nothing and needs no approval. It only reads. It throws the errors of `run`,
   * so that no person is asked about a call that fails.
   */
  subject(work: Work, input: Input): Promise<ApprovalSubject | null>;
  /** The subject as the caller names it. */
  named(input: Input): ApprovalSubject;
}

/** The review of a call before anything of it leaves its owner. */
export interface ReviewRule<Input = unknown> {
  /** The field with the text, with a message, or with several: `content`, `initial_message`. Absent: the call has only names. */
  texts?: string;
  /** Where the transport has no key: a key of the call, and what must be the same under it. */
  identity?(input: Input): { key: string; request: object };
  /** Whether the call ends the lease that its `lease_id` names. */
  ends_lease?: boolean;
}

/** The agent that an action concerns, by its handle, and the message to it. */
export interface ApprovalSubject {
  target: string;
  message: string | null;
}

/** Waits for the first message of another member after a sequence of a thread. */
export interface ReplyRequest {
  thread_id: string;
  after_sequence: number;
  /** The task of the question. The wait ends with the task, too. */
  task_id?: string | undefined;
  /** Whether only messages of the task are replies. */
  is_only_in_task?: boolean | undefined;
  wait_ms: number;
}

/** Runs an operation again while its output is empty, until it has an item of the caller's inbox or the time is over. */
export interface ItemWait<Input = unknown> {
  /** How long the call may wait, in milliseconds. */
  waitMs(input: Input): number;
  /** Whether the first output of a call that waits is usually empty: then the wait begins before it. */
  isFirstEmpty?: boolean;
  isEmpty(output: object, input: Input): boolean;
  /** What to wait for after an empty output. Throws as `run`. */
  findNext(work: Work, input: Input, output: object): Promise<NextItem>;
}

/** Runs concurrent calls of an operation in one transaction. */
export interface BatchRule<Input = unknown, Output extends object = object> {
  /**
   * Each call gets its own result, in their order; null for a call that would have to wait for a lock, which then runs by `run` of the
   * operation. A refused call must leave no data.
   */
  run(
    calls: readonly { work: Work; input: Input }[],
    /** Whether these calls run again after a ConcurrentChange: everything must be read. */
    options: { isRepeated: boolean },
  ): Promise<readonly BatchResult<Output>[]>;
  /** Whether a call can be in a batch. Absent: every call. */
  includes?(input: Input): boolean;
  /** Whether a batch has calls of one agent only, because each locks a record of its agent until the end. */
  byAgent?: boolean;
}

/** A rate limit of its own. */
export interface LimitRule<Input = unknown> {
  budget: ActionBudget;
  /** The budget of one call, where it depends on the input. */
  budgetOf?(input: Input): ActionBudget | 'default';
  /** A further key of the limit, besides the agent. */
  key?(input: Input): string | undefined;
  /** Like `key`, for a key that is read from the database. */
  findKey?(work: Work, input: Input): Promise<string | undefined>;
  /** The calls that one call with several parts counts as: one for each part. */
  countParts?(input: Input): number;
}

/**
 * An operation: defined once, called through every transport. A plain object without types of a transport.
 * `run` has method syntax on purpose: a catalogue of different operations then has one type without casts.
 */
export interface Operation<Input = unknown, Output extends object = object> {
  /** snake_case; unique. */
  name: string;
  summary: string;
  /** The scope that a token must hold, several of which it must hold one, or `any` for every valid token. */
  scope: RequiredScope | 'any';
  /** A read runs without a transaction; a write runs in one, with its events and its idempotency key. */
  kind: 'read' | 'write';
  input: z.ZodType<Input>;
  output: z.ZodType<Output>;
  /** Its error codes, without those of every operation and INVALID_CURSOR of operations with a cursor. */
  errors: readonly ErrorCode[];
  /** A sample call for the API description; the input includes path parameters. */
  example: { input: Record<string, unknown>; output: Output };
  /**
   * The file of a call, if it has one. It is stored before the transaction opens, so that no transaction waits for bytes; `run` gets
   * its description. May read and refuse.
   */
  file?(work: Work, input: Input): Promise<IncomingFile | null>;
  /** @param allowance for an operation whose limit counts parts: how many of its parts can run. Null: all. */
  run(work: Work, input: Input, file: StoredFile | null, allowance: Allowance | null): Promise<Output>;
  /** For an operation whose concurrent calls share a transaction. */
  batch?: BatchRule<Input, Output>;
  /** The output where nothing is special. For repeated calls, only what differs from it is stored. */
  usualOutput?(actor: Actor, input: Input): Output;
  /** Whether its answer is a secret: it is stored encrypted for repeated calls. */
  confidential?: boolean;
  /** The record that a write locks. Calls with the same key are in one batch, or only a few of them run at a time. */
  batchKey?(input: Input): string;
  /**
   * Whether a read replica may answer, once it has replayed everything that the caller did and received. `any-page`: the caller receives
   * every change of the records it lists. `first-page`: it does not, so later pages come from the primary, which is never older than
   * the page before. A read without pages takes `any-page`. Absent: reads that decide on access, or are cheap.
   */
  replica?: 'any-page' | 'first-page';
  /** The rate limit that calls count against. Absent: the default one, which all other operations share. */
  limit?: LimitRule<Input>;
  /** Whether the output of a batch has a refused part with the status 404. Its time is padded, as that of a refused call. */
  hasNotFound?(output: Output): boolean;
  /**
   * For an operation that waits for a reply after it ran: what it waits for. Its output has the fields `reply`, `task` and `cursor`, which the
   * wait sets. Calls need the scope `threads:read` too.
   */
  reply?(output: object, input: Input): ReplyRequest;
  /**
   * For an operation that waits for items. Each run is a transaction of its own, so its calls have no idempotency key: a second call gets other
   * items.
   */
  itemWait?: ItemWait<Input>;
  rest?: RestBinding<Output>;
  tool?: ToolBinding;
  approval?: ApprovalRule<Input>;
  /** For an operation that sends what agents of other owners see: how a person reviews it, if the agent has an outgoing policy. */
  review?: ReviewRule<Input>;
  resource?: ResourceBinding;
}

/** Infers the types of an operation from its schemas. */
export function defineOperation<Input, Output extends object>(
  operation: Operation<Input, Output>,
): Operation<Input, Output> {
  return operation;
}

/** An operation that returns nothing. `example` is a sample input. */
export function defineAction<Input>({
  run,
  example,
  ...operation
}: Omit<Operation<Input>, 'output' | 'run' | 'example'> & {
  run(work: Work, input: Input): Promise<unknown>;
  example: Record<string, unknown>;
}): Operation<Input> {
  return defineOperation({
    ...operation,
    output: z.object({}),
    example: { input: example, output: {} },
    async run(work, input) {
      await run(work, input);
      return {};
    },
  });
}

/** Tool annotations of read and write operations (MCP, Tool annotations). */
export const toolHints = {
  read: { readOnlyHint: true, destructiveHint: false, openWorldHint: false },
  /** Reads what agents of other owners write, who may be strangers. */
  readsOthers: { readOnlyHint: true, destructiveHint: false, openWorldHint: true },
  write: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
  /** Writes that reach agents of other owners. */
  reachesOthers: { readOnlyHint: false, destructiveHint: false, openWorldHint: true },
} as const;
