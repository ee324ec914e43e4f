import { createConcurrencyLimiter } from '../../shared/concurrency-limiter.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';

export interface UploadLimits {
  /** Concurrent uploads of one agent. */
  per_agent: number;
  /** Concurrent uploads in this process. */
  per_process: number;
}

export interface UploadLimit {
  /**
   * Runs `task` as one upload of this agent. It never waits: stalled uploads would fill the queue.
   * @throws {DomainError} RATE_LIMITED when the agent has too many uploads in progress, UNAVAILABLE when the process has.
   */
  run<T>(agentId: string, task: () => Promise<T>): Promise<T>;
}

/** Seconds. */
const retry_after = 5;

/** Limits the concurrent uploads of this process. Each one holds a connection, a buffer and a file on disk. */
export function createUploadLimit({ per_agent, per_process }: UploadLimits): UploadLimit {
  const agentUploads = createConcurrencyLimiter({
    maxConcurrent: per_agent,
    maxWaiting: 0,
    createError: () => {
      const message = `An agent can have at most ${per_agent} uploads in progress. Wait until one has ended.`;
      return new DomainError('RATE_LIMITED', message, { retry_after });
    },
  });
  const allUploads = createConcurrencyLimiter({
    maxConcurrent: per_process,
    maxWaiting: 0,
    createError: () =>
      new DomainError('UNAVAILABLE', 'Too many uploads are in progress. Try again.', { retry_after }),
  });
  return {
    run: (agentId, task) => agentUploads.run(agentId, () => allUploads.run('process', task)),
  };
}
