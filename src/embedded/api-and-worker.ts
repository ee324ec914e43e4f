import { startWorker } from '../../workers/start.ts';
import { startApi } from '../api.ts';
import { compose } from '../compose.ts';
import type { Config } from '../config.ts';
import { createLogger } from '../platform/observability/logger.ts';
import { openProcessTracing } from '../start/connections.ts';
import { createLifecycle, type Lifecycle } from '../start/lifecycle.ts';

/**
 * Starts the API and a worker in this process, each with its own connections. They stop together: first the API, then the worker.
 * OPS_PORT serves the metrics of the API.
 */
export async function startApiAndWorker(
  config: Config,
  lifecycle: Lifecycle,
  stopTimeoutMs: number,
): Promise<void> {
  const parts = createLifecycle(createLogger({ level: config.LOG_LEVEL, part: 'service' }));
  lifecycle.onStop('service', stopTimeoutMs, async () => {
    await parts.stop('the service stops', { isGraceful: true });
  });
  const tracing = await openProcessTracing(config, 'service');
  const { OPS_PORT: _ofApi, ...forWorker } = config;
  await startWorker(compose({ ...forWorker, OPS_PORT: undefined }, 'worker', tracing), parts);
  await startApi(compose(config, 'api', tracing), parts);
}
