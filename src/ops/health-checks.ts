import type { Core } from '../compose.ts';
import type { HealthCheck } from '../transports/http/health.ts';

/** What a process needs, and how to ask it. Calls are served without queues and bus: what they carry is made good later. */
export function healthChecks({
  database,
  replicas,
  queues,
  bus,
}: Pick<Core, 'database' | 'replicas' | 'queues' | 'bus'>): HealthCheck[] {
  return [
    { part: 'database', check: () => database.query({ text: 'select 1' }, []) },
    { part: 'queues', isOptional: true, check: () => queues.check() },
    {
      part: 'bus',
      isOptional: true,
      check: () => (bus.isHealthy() ? Promise.resolve() : Promise.reject(new Error('down'))),
    },
    // Who does not look after them, as a worker, has none.
    ...(replicas.isWatching() ? [replicaCheck(replicas)] : []),
  ];
}

/** What a replica would have told, the primary does. */
function replicaCheck(replicas: Core['replicas']): HealthCheck {
  return {
    part: 'replicas',
    isOptional: true,
    async check() {
      const ill = replicas.statuses().find((replica) => replica.problem !== null);
      if (ill) throw new Error(`${ill.name}: ${ill.problem}`);
    },
  };
}
