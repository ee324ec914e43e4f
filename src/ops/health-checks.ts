import type { Core } from '../compose.ts';
import type { HealthCheck } from '../http/health.ts';

/** What a process needs, and how to ask it. Calls are served without queues and bus: what they carry is made good later. */
export function healthChecks({
  database,
  queues,
  bus,
}: Pick<Core, 'database' | 'queues' | 'bus'>): HealthCheck[] {
  return [
    { part: 'database', check: () => database.query({ text: 'select 1' }, []) },
    { part: 'queues', dispensable: true, check: () => queues.ping() },
    {
      part: 'bus',
      dispensable: true,
      check: () => (bus.healthy() ? Promise.resolve() : Promise.reject(new Error('down'))),
    },
  ];
}
