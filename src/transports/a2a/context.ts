import type { Context } from 'koa';
import type { Actor } from '../../../packages/core/src/domain/auth/actor.ts';
import type { OnBudget } from '../../../packages/core/src/domain/limits.ts';
import type { Operation } from '../../operations/define.ts';
import type { Execute } from '../../operations/execute/execute.ts';
import type { RateLimits } from '../../operations/rate-limits.ts';
import type { Realtime } from '../../realtime/contract.ts';
import type { CardParts } from './card.ts';
import type { Edition } from './editions.ts';
import type { WaitingCalls } from './waiting-calls.ts';

export interface CallParts extends Pick<CardParts, 'signJson'> {
  execute: Execute;
  limits: RateLimits;
  realtime: Pick<Realtime, 'watchInbox'>;
  /** How long SendMessage waits for the task, in milliseconds. */
  waitMs: number;
  /** Aborted when the process begins to shut down: waiting calls then return, and streams end. */
  draining: AbortSignal;
  onSlowReader(): void;
}

/** One request to an agent. */
export interface A2aRequest {
  ctx: Context;
  actor: Actor;
  /** The canonical handle of the address. */
  agent: string;
  hasMailbox: boolean;
  version: Edition['version'];
  onRateLimit: OnBudget;
  /** Writes an event of a stream as its binding does, as JSON. `isLast`: the stream ends after it. */
  toFrame(event: object, isLast: boolean): string;
}

/** The dependencies of a method, for one request. */
export interface CallContext extends Omit<CallParts, 'execute'> {
  request: A2aRequest;
  waiting: WaitingCalls;
  /** Runs an operation as the caller; returns its output. */
  run<Output extends object>(
    operation: Operation<unknown, Output>,
    input: object,
    options?: { idempotency_key?: string; signal?: AbortSignal; already_consumed?: true },
  ): Promise<Output>;
}

/** Creates the context of a request. */
export function createCallContext(
  { execute, ...parts }: CallParts,
  waiting: WaitingCalls,
  request: A2aRequest,
  /** Called when a call counts against the limits of what it does. */
  onCounted: () => void,
): CallContext {
  const { actor, onRateLimit } = request;
  return {
    ...parts,
    request,
    waiting,
    async run<Output extends object>(
      operation: Operation<unknown, Output>,
      input: object,
      options?: Parameters<CallContext['run']>[2],
    ) {
      onCounted();
      // The schema of the operation has parsed it.
      return (await execute({ operation, actor, input, onRateLimit, ...options })).output as Output;
    },
  };
}
