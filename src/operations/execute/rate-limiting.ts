import type { Actor } from '../../domain/auth/actor.ts';
import { DomainError } from '../../domain/errors.ts';
import type { OnBudget } from '../../domain/limits.ts';
import type { Operation } from '../define.ts';
import type { RateLimits } from '../rate-limits.ts';
import { parseInput } from './parse-input.ts';

export interface RateLimitedCall {
  operation: Operation;
  actor: Actor;
  /** As the transport got it: not yet parsed. */
  input: unknown;
  /** Hears how the budgets stand that this call takes from. */
  onRateLimit?: OnBudget | undefined;
  /** The face asks once more on behalf of a call that has paid. */
  already_consumed?: boolean | undefined;
  /** Whether the call itself finds out if it costs the operation's own budget; till then it costs what everything costs. */
  consumes_later?: boolean | undefined;
}

/**
 * Lets a call within its budget pass, with its input parsed. `pay` takes it from the operation's own budget where that is left to
 * the call; else it was taken already.
 * @throws {DomainError} RATE_LIMITED, or what `pass` throws.
 */
export type RateLimiting = <T>(call: RateLimitedCall, pass: RunCall<T>) => Promise<T>;

type RunCall<T> = (input: unknown, pay: () => Promise<void>) => Promise<T>;

const consumeNothing = async () => {};

const maxExhausted = 10_000;

/** Takes every call from its budget (contract, section 9), whatever face it came through. */
export function createRateLimiting(limits: RateLimits): RateLimiting {
  /** Agents whose refused calls went beyond their default budget. */
  const overdrawn = new Set<string>();

  /** Most operations share the default budget. It is taken first: a call that cannot be read is one too. */
  async function common<T>(call: RateLimitedCall, pass: RunCall<T>): Promise<T> {
    const { operation, actor, input, onRateLimit } = call;
    await limits.consume('default', actor.agent_id, onRateLimit);
    const parsed = parseInput(operation.input, input);
    return pass(parsed, () => payOwn(call, parsed));
  }

  async function payOwn({ operation, actor, onRateLimit }: RateLimitedCall, input: unknown): Promise<void> {
    const { limit: budget } = operation;
    if (budget === undefined) return;
    const part = operation.limitKey?.(input);
    await limits.consume(
      budget,
      part === undefined ? actor.agent_id : `${actor.agent_id}:${part}`,
      onRateLimit,
    );
  }

  /**
   * A refused call of an operation with a budget of its own costs the default budget too: else a flood of bad input, or of ids
   * that do not exist, each with a fresh budget, would have no limit. Who goes on after that budget is used up pays it before
   * every call until it is there again, so that the flood ends here, before anything is looked up.
   */
  async function own<T>(call: RateLimitedCall, pass: RunCall<T>): Promise<T> {
    const { operation, actor, onRateLimit } = call;
    const { agent_id } = actor;
    if (overdrawn.has(agent_id)) {
      await limits.consume('default', agent_id, onRateLimit);
      overdrawn.delete(agent_id);
    }
    try {
      const input = parseInput(operation.input, call.input);
      await payOwn(call, input);
      return await pass(input, consumeNothing);
    } catch (error) {
      if (isRefusal(error)) await penalty(agent_id, onRateLimit);
      throw error;
    }
  }

  async function penalty(agent_id: string, tell: OnBudget | undefined): Promise<void> {
    try {
      await limits.consume('default', agent_id, tell);
    } catch (error) {
      overdrawn.add(agent_id);
      for (const oldest of overdrawn) {
        if (overdrawn.size <= maxExhausted) break;
        overdrawn.delete(oldest);
      }
      throw error;
    }
  }

  return async function toll(call, pass) {
    const { operation, input, already_consumed = false, consumes_later = false } = call;
    if (already_consumed) return pass(parseInput(operation.input, input), consumeNothing);
    return operation.limit === undefined || consumes_later ? common(call, pass) : own(call, pass);
  };
}

/** What the caller is told about the call itself. A used up budget is none: it was refused before any work was done. */
function isRefusal(error: unknown): boolean {
  return error instanceof DomainError && error.status < 500 && error.code !== 'RATE_LIMITED';
}
