import type { AddressInfo } from 'node:net';
import type { Middleware } from 'koa';
import type { Core } from '../compose.ts';
import { createApp } from '../transports/http/app.ts';
import { serveHealth } from '../transports/http/health.ts';
import { closeServer, createHttpServer, listen } from '../transports/http/server.ts';
import type { Lifecycle } from '../start/lifecycle.ts';
import { createQueueDashboard } from './queue-dashboard.ts';
import { createOpsMiddleware } from './middleware.ts';
import { healthChecks } from './health-checks.ts';
import { createScrape } from './metrics-scrape.ts';
import { createOperatorSignIn } from './operator-sign-in.ts';

/** Metrics and the queue dashboard over one core. Starts the process metrics. */
export function composeOpsMiddleware(core: Core, metrics_for: 'everybody' | 'this-machine'): Middleware {
  const { config, metrics, queues } = core;
  metrics.watchProcess();
  return createOpsMiddleware({
    scrape: createScrape(core),
    content_type: metrics.registry.contentType,
    signIn:
      config.OPERATOR_PASSWORD === undefined ? undefined : createOperatorSignIn(config.OPERATOR_PASSWORD),
    queueDashboard: createQueueDashboard(queues),
    metrics_for,
  });
}

/**
 * Serves metrics, the queue dashboard and the health of this process on OPS_HOST and OPS_PORT.
 * @returns the port; undefined if OPS_PORT is not set.
 */
export async function listenForOperators(
  core: Core,
  lifecycle: Lifecycle,
  isStopping: () => boolean,
): Promise<number | undefined> {
  const { config, logger } = core;
  if (config.OPS_PORT === undefined) return undefined;
  const handlers = [serveHealth(healthChecks(core), isStopping), composeOpsMiddleware(core, 'everybody')];
  const server = createHttpServer(
    createApp({ logger, trust_proxy: false, is_https: false, handlers }).callback(),
  );
  await listen(server, config.OPS_PORT, config.OPS_HOST, 'OPS_HOST, OPS_PORT');
  lifecycle.onStop('operators', 3_500, () => closeServer(server));
  const { port } = server.address() as AddressInfo;
  logger.info({ port, host: config.OPS_HOST }, 'operator listener ready');
  return port;
}
