import { maxWaitingCalls } from '../../../packages/core/src/domain/a2a.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';

/** The calls of this process that wait for a task. */
export interface WaitingCalls {
  /** @throws {DomainError} RATE_LIMITED when too many calls of the agent wait */
  run<T>(agentId: string, wait: () => Promise<T>): Promise<T>;
}

/** Creates the counter of the waiting calls of each agent. */
export function createWaitingCalls(): WaitingCalls {
  const counts = new Map<string, number>();
  return {
    async run(agentId, wait) {
      const count = counts.get(agentId) ?? 0;
      if (count >= maxWaitingCalls) {
        const message = `${maxWaitingCalls} of your calls are already waiting. Set returnImmediately to true, or retry later.`;
        throw new DomainError('RATE_LIMITED', message, { retry_after: 1 });
      }
      counts.set(agentId, count + 1);
      try {
        return await wait();
      } finally {
        const left = (counts.get(agentId) ?? 1) - 1;
        if (left === 0) counts.delete(agentId);
        else counts.set(agentId, left);
      }
    },
  };
}
