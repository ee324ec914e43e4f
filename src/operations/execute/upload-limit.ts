import { createConcurrencyLimiter } from '../../shared/concurrency-limiter.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';

export interface UploadLimit {
  /**
   * Runs `task` as one upload of this agent, of any kind. It never waits: stalled uploads would fill the queue.
   * @throws {DomainError} RATE_LIMITED when it has too many uploads in progress, UNAVAILABLE when the process has.
   */
  run<T>(agentId: string, task: () => Promise<T>): Promise<T>;
}

/** Seconds. */
const retry_after = 5;

/** Limits the concurrent uploads of this process. Each one holds a connection, a buffer and a file on disk. */
export function createUploadLimit({
  UPLOADS_PER_AGENT: own,
  UPLOADS_PER_PROCESS: all,
}: Record<'UPLOADS_PER_AGENT' | 'UPLOADS_PER_PROCESS', number>): UploadLimit {
  const ownUploads = createConcurrencyLimiter({
    maxConcurrent: own,
    maxWaiting: 0,
    createError: () => {
      const message = `At most ${own} uploads can be in progress. Wait until one has ended.`;
      return new DomainError('RATE_LIMITED', message, { retry_after });
    },
  });
  const allUploads = createConcurrencyLimiter({
    maxConcurrent: all,
    maxWaiting: 0,
    createError: () =>
      new DomainError('UNAVAILABLE', 'Too many uploads are in progress. Try again.', { retry_after }),
  });
  return {
    run: (agentId, task) => ownUploads.run(agentId, () => allUploads.run('process', task)),
  };
}
