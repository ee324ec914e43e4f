import type { AddressInfo } from 'node:net';
import type { Middleware } from 'koa';
import type { Core } from '../compose.ts';
import { createApp } from '../http/app.ts';
import { healthFace } from '../http/health.ts';
import { closeServer, createHttpServer, listen } from '../http/server.ts';
import type { Lifecycle } from '../platform/lifecycle.ts';
import { queueBoard } from './board.ts';
import { opsFace } from './face.ts';
import { healthChecks } from './health-checks.ts';
import { createScrape } from './scrape.ts';
import { createOperatorSignIn } from './sign-in.ts';

/** What operators look at, over one core. Begins to watch the process. */
export function operatorsFace(core: Core, metrics_for: 'everybody' | 'this-machine'): Middleware {
  const { config, metrics, queues } = core;
  metrics.watchProcess();
  return opsFace({
    scrape: createScrape(core),
    content_type: metrics.registry.contentType,
    signIn:
      config.OPERATOR_PASSWORD === undefined ? undefined : createOperatorSignIn(config.OPERATOR_PASSWORD),
    board: queueBoard(queues),
    metrics_for,
  });
}

/**
 * Serves operators at an address of their own, OPS_HOST and OPS_PORT: metrics, the queue dashboard, and the health of this process.
 * @returns the port, or undefined when the settings name none.
 */
export async function listenForOperators(
  core: Core,
  lifecycle: Lifecycle,
  stopping: () => boolean,
): Promise<number | undefined> {
  const { config, logger } = core;
  if (config.OPS_PORT === undefined) return undefined;
  const faces = [healthFace(healthChecks(core), stopping), operatorsFace(core, 'everybody')];
  const server = createHttpServer(createApp({ logger, trust_proxy: false, faces }).callback());
  await listen(server, config.OPS_PORT, config.OPS_HOST);
  lifecycle.onStop('operators', 3_500, () => closeServer(server));
  const { port } = server.address() as AddressInfo;
  logger.info({ port, host: config.OPS_HOST }, 'operators are served');
  return port;
}
