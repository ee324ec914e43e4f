import { maintenance, type MaintenanceTask, maintenanceTasks } from '../src/jobs/maintenance.ts';
import type { Logger } from '../src/platform/observability/logger.ts';
import type { JobQueues } from '../src/platform/queues/job-queues.ts';

/**
 * Enqueues the housekeeping in its rhythm. Every maintenance worker has a clock, so that a flushed queue is filled again by
 * the next tick; the id of each run names its period, so that runs do not pile up while nobody does them.
 * @returns stops the clock.
 */
export function startScheduler(queues: JobQueues, logger: Logger): () => void {
  const timers = Object.entries(maintenanceTasks).map(([name, period]) => {
    const tick = () => {
      const task = name as MaintenanceTask;
      const { queue, attempts, backoff_ms } = maintenance;
      const id = `${task}-${Math.floor(Date.now() / period)}`;
      const job = { queue, name: maintenance.name, id, payload: { version: 1, task }, attempts, backoff_ms };
      queues
        .enqueue([job])
        .catch((error: unknown) => logger.debug({ err: error, task }, 'not enqueued; the next tick will'));
    };
    tick();
    return setInterval(tick, period);
  });
  return () => timers.forEach((timer) => clearInterval(timer));
}
