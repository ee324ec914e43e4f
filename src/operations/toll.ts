import type { Actor } from '../domain/actor.ts';
import { DomainError } from '../domain/errors.ts';
import type { TellBudget } from '../domain/limits.ts';
import type { Operation } from './define.ts';
import type { Limits } from './limits.ts';
import { parseInput } from './parse.ts';

export interface TolledCall {
  operation: Operation;
  actor: Actor;
  /** As the transport got it: not yet parsed. */
  input: unknown;
  /** Hears how the budgets stand that this call takes from. */
  tell?: TellBudget | undefined;
  /** The face asks once more on behalf of a call that has paid. */
  paid?: boolean | undefined;
  /** Whether the call itself finds out if it costs the operation's own budget; till then it costs what everything costs. */
  pays_later?: boolean | undefined;
}

/**
 * Lets a call within its budget pass, with its input parsed. `pay` takes it from the operation's own budget where that is left to
 * the call; else it was taken already.
 * @throws {DomainError} RATE_LIMITED, or what `pass` throws.
 */
export type Toll = <T>(call: TolledCall, pass: Pass<T>) => Promise<T>;

type Pass<T> = (input: unknown, pay: () => Promise<void>) => Promise<T>;

const nothingToPay = async () => {};

const mostOverdrawn = 10_000;

/** Takes every call from its budget (contract, section 9), whatever face it came through. */
export function createToll(limits: Limits): Toll {
  /** Agents whose refused calls went beyond their default budget. */
  const overdrawn = new Set<string>();

  /** Most operations share the default budget. It is taken first: a call that cannot be read is one too. */
  async function common<T>(call: TolledCall, pass: Pass<T>): Promise<T> {
    const { operation, actor, input, tell } = call;
    await limits.spend('default', actor.agent_id, tell);
    const parsed = parseInput(operation.input, input);
    return pass(parsed, () => payOwn(call, parsed));
  }

  async function payOwn({ operation, actor, tell }: TolledCall, input: unknown): Promise<void> {
    const { limit: budget } = operation;
    if (budget === undefined) return;
    const part = operation.limitKey?.(input);
    await limits.spend(budget, part === undefined ? actor.agent_id : `${actor.agent_id}:${part}`, tell);
  }

  /**
   * A refused call of an operation with a budget of its own costs the default budget too: else a flood of bad input, or of ids
   * that do not exist, each with a fresh budget, would have no limit. Who goes on after that budget is used up pays it before
   * every call until it is there again, so that the flood ends here, before anything is looked up.
   */
  async function own<T>(call: TolledCall, pass: Pass<T>): Promise<T> {
    const { operation, actor, tell } = call;
    const { agent_id } = actor;
    if (overdrawn.has(agent_id)) {
      await limits.spend('default', agent_id, tell);
      overdrawn.delete(agent_id);
    }
    try {
      const input = parseInput(operation.input, call.input);
      await payOwn(call, input);
      return await pass(input, nothingToPay);
    } catch (error) {
      if (isRefusal(error)) await penalty(agent_id, tell);
      throw error;
    }
  }

  async function penalty(agent_id: string, tell: TellBudget | undefined): Promise<void> {
    try {
      await limits.spend('default', agent_id, tell);
    } catch (error) {
      overdrawn.add(agent_id);
      for (const oldest of overdrawn) {
        if (overdrawn.size <= mostOverdrawn) break;
        overdrawn.delete(oldest);
      }
      throw error;
    }
  }

  return async function toll(call, pass) {
    const { operation, input, paid = false, pays_later = false } = call;
    if (paid) return pass(parseInput(operation.input, input), nothingToPay);
    return operation.limit === undefined || pays_later ? common(call, pass) : own(call, pass);
  };
}

/** What the caller is told about the call itself. A used up budget is none: it was refused before any work was done. */
function isRefusal(error: unknown): boolean {
  return error instanceof DomainError && error.status < 500 && error.code !== 'RATE_LIMITED';
}
