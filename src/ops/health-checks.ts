import type { Core } from '../compose.ts';
import type { HealthCheck } from '../transports/http/health.ts';

/** The checks for readiness. Queues, bus and replicas are optional: requests are served without them. */
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
    // A worker does not use replicas.
    ...(replicas.isWatching() ? [replicaCheck(replicas)] : []),
  ];
}

/** Without a replica, the primary serves its reads. */
function replicaCheck(replicas: Core['replicas']): HealthCheck {
  return {
    part: 'replicas',
    isOptional: true,
    async check() {
      const unhealthy = replicas.statuses().find((replica) => replica.problem !== null);
      if (unhealthy) throw new Error(`${unhealthy.name}: ${unhealthy.problem}`);
    },
  };
}
