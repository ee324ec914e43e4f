import { randomUUID } from 'node:crypto';
import { expect, vi } from 'vitest';
import { maintenance, type MaintenanceTask } from '../../../src/jobs/maintenance.ts';
import type { Deployment } from './deployment.ts';

/** Runs these tasks in a running worker, and checks that they succeeded. */
export async function runMaintenance({ core }: Deployment, tasks: readonly MaintenanceTask[]): Promise<void> {
  const { queue, name, attempts, backoff_ms } = maintenance;
  const id = randomUUID();
  await core.queues.enqueue(
    tasks.map((task) => ({
      queue,
      name,
      id: `${task}-${id}`,
      payload: { version: 1, task },
      attempts,
      backoff_ms,
    })),
  );
  await vi.waitFor(
    async () => {
      const depths = await core.queues.depths();
      const open = depths.filter((depth) => depth.queue === queue && depth.waiting + depth.active > 0);
      expect(open).toEqual([]);
    },
    { timeout: 60_000, interval: 100 },
  );
  expect(await core.queues.failures(queue, 20)).toEqual([]);
}
