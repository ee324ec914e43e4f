import { DomainError } from '../../domain/errors.ts';

export interface UploadLimits {
  /** Concurrent uploads of one agent. */
  per_agent: number;
  /** Concurrent uploads in this process. */
  per_process: number;
}

export interface UploadLimit {
  /**
   * Runs `task` as one upload of this agent. It never waits: a queue of stalled uploads would hold what the limit is to free.
   * @throws {DomainError} RATE_LIMITED when the agent has too many uploads in progress, UNAVAILABLE when the process has.
   */
  run<T>(agentId: string, task: () => Promise<T>): Promise<T>;
}

/** Seconds. */
const retry_after = 5;

/** Limits how many files this process receives at the same time. Each one holds a connection, a buffer and a file on disk. */
export function createUploadLimit({ per_agent, per_process }: UploadLimits): UploadLimit {
  const byAgent = new Map<string, number>();
  let total = 0;

  function release(agentId: string): void {
    total -= 1;
    const count = byAgent.get(agentId) ?? 0;
    if (count > 1) byAgent.set(agentId, count - 1);
    else byAgent.delete(agentId);
  }

  return {
    async run(agentId, task) {
      const count = byAgent.get(agentId) ?? 0;
      if (count >= per_agent) {
        const message = `An agent may have ${per_agent} uploads in progress at once; wait until one has ended.`;
        throw new DomainError('RATE_LIMITED', message, { retry_after });
      }
      if (total >= per_process) {
        const message = 'Too many uploads are in progress; try again.';
        throw new DomainError('UNAVAILABLE', message, { retry_after });
      }
      byAgent.set(agentId, count + 1);
      total += 1;
      try {
        return await task();
      } finally {
        release(agentId);
      }
    },
  };
}
