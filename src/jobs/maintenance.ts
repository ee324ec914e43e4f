import { z } from 'zod';
import type { JobContract, QueuedJob } from './define.ts';

/** The maintenance tasks, each with the interval between two runs in milliseconds. */
export const maintenanceTasks = {
  'apply-decisions': 1_000,
  'sweep-outbox': 5_000,
  'move-handled-marks': 5_000,
  'sweep-webhooks': 5_000,
  'sweep-notifications': 5_000,
  'expire-idempotency-keys': 60_000,
  'expire-tokens': 60_000,
  'expire-mcp-sessions': 600_000,
  'expire-rate-limits': 60_000,
  'expire-sessions': 600_000,
  'expire-notifications': 600_000,
  'expire-approvals': 600_000,
  'expire-feeds': 3_600_000,
  'expire-webhook-deliveries': 600_000,
  'expire-audit-log': 3_600_000,
  'expire-usage': 3_600_000,
  'expire-presence': 60_000,
  'end-leases': 30_000,
  'sweep-tasks': 10_000,
  'end-watch-links': 5_000,
  'expire-exchanges': 60_000,
  'expire-remote-agents': 600_000,
  'expire-uploads': 600_000,
  'expire-exports': 600_000,
  'sweep-blobs': 6 * 3_600_000,
} as const;

export type MaintenanceTask = keyof typeof maintenanceTasks;

/** The queue can hold tasks of another release: a worker skips those that it does not know. */
export const maintenance: JobContract<{ version: 1; task: string }> = {
  name: 'maintain',
  queue: 'maintenance',
  payload: z.object({ version: z.literal(1), task: z.string() }),
  attempts: 1,
  backoff_ms: 1000,
};

/** Returns the job of a task in the present period of so many milliseconds. */
export function toMaintenanceJob(task: string, period: number, now: number): QueuedJob {
  const { queue, name, attempts, backoff_ms } = maintenance;
  const id = `${task}-${Math.floor(now / period)}`;
  return { queue, name, id, payload: { version: 1, task }, attempts, backoff_ms };
}
