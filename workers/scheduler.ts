import { type MaintenanceTask, toMaintenanceJob } from '../src/jobs/maintenance.ts';
import type { Logger } from '../src/platform/observability/logger.ts';
import type { JobQueues } from '../src/platform/queues/job-queues.ts';

/**
 * Enqueues the maintenance tasks at their intervals. Every maintenance worker has a scheduler, so a flushed queue fills again. The job id
 * contains the period, so that runs are enqueued once and do not pile up.
 * @param intervals milliseconds between two runs
 * @param now the time of the database: the clock of the machine can be set back, and ids of runs that are done would come again
 * @returns a function that stops the scheduler.
 */
export function startScheduler(
  queues: JobQueues,
  logger: Logger,
  intervals: Record<MaintenanceTask, number>,
  now: () => number,
): () => void {
  const timers = Object.entries(intervals).map(([task, period]) => {
    const tick = () => {
      queues
        .enqueue([toMaintenanceJob(task, period, now())])
        .catch((error: unknown) =>
          logger.debug({ err: error, task }, 'maintenance task not enqueued; the next tick retries'),
        );
    };
    tick();
    return setInterval(tick, period);
  });
  return () => timers.forEach((timer) => clearInterval(timer));
}
