import type { Core } from './compose.ts';
import { createUploadLimit } from './operations/execute/upload-limit.ts';
import { createRateLimits } from './operations/rate-limits.ts';
import { healthChecks } from './ops/health-checks.ts';
import { composeOpsMiddleware, listenForOperators } from './ops/listener.ts';
import { untraced } from './platform/observability/tracing.ts';
import { startClock } from './start/clock.ts';
import { createExecuteFor } from './start/execute.ts';
import { openFeedEpoch } from './start/feed-epoch.ts';
import { startInstanceGuard } from './start/instance-guard.ts';
import type { Lifecycle } from './start/lifecycle.ts';
import { startOAuth } from './start/oauth.ts';
import type { ApiOverrides } from './start/overrides.ts';
import { startRealtime } from './start/realtime.ts';
import { startServer } from './start/server.ts';
import { removeOldDrafts } from './start/storage.ts';
import { createA2a, createConsole, createMcp, createRest } from './start/transports.ts';
import { serveHealth } from './transports/http/health.ts';
import { measureRequests } from './transports/http/requests/request-metrics.ts';
import { traceRequests } from './transports/http/requests/trace-requests.ts';
import { serveBlobs } from './transports/rest/blobs.ts';
import { serveClientPackages } from './transports/http/client-packages.ts';
import { serveDocs } from './transports/rest/docs/serve.ts';

/**
 * Starts one API process: every transport over one core. It stops in phases: readiness fails, streams end, running calls finish,
 * connections close.
 * @returns the ports for clients and, with OPS_PORT, for operators; and the parts that tests inspect.
 */
export async function startApi(core: Core, lifecycle: Lifecycle, overrides: ApiOverrides = {}) {
  const { config, logger, metrics, tracing } = core;
  lifecycle.onStop('connections', 5_000, () => core.close());
  void removeOldDrafts(core);
  await startClock(core, lifecycle);
  await openFeedEpoch(core);
  const leaveQueues = await startInstanceGuard(core);
  lifecycle.onStop('queues', 1_000, async () => leaveQueues());
  core.replicas.watch();

  const signals = { leaving: new AbortController(), draining: new AbortController() };
  const isLeaving = () => signals.leaving.signal.aborted;
  const limits = createRateLimits(core.limiter);
  const live = await startRealtime(core, lifecycle, overrides);
  const { publishRevocations } = live;
  const oauthParts = await startOAuth(core, lifecycle, { limits, publishRevocations }, overrides);
  const { oauth, cookie_keys } = oauthParts;
  const uploads = createUploadLimit(config);
  const parts = { live, limits, executeFor: createExecuteFor(core, limits, live.realtime, uploads) };
  const mcp = createMcp(core, parts, overrides);
  const rest = createRest(core, parts, signals.draining.signal);
  const pages = createConsole(core, parts, oauthParts, signals.draining.signal, overrides);
  const ops_port = await listenForOperators(core, lifecycle, isLeaving);
  const handlers = [
    ...(tracing === untraced ? [] : [traceRequests(tracing)]),
    measureRequests((labels, seconds) => metrics.requests.observe(labels, seconds)),
    serveHealth(healthChecks(core), isLeaving),
    ...(ops_port === undefined ? [composeOpsMiddleware(core, 'this-machine')] : []),
    mcp.middleware,
    oauth.middleware,
    rest.descriptions,
    await serveDocs(rest.describeCalls, rest.describeEvents),
    serveClientPackages(),
    ...(overrides.inspectRequests ? [overrides.inspectRequests(oauth.requests)] : []),
    pages.middleware,
    rest.root,
    serveBlobs({ ...core, uploads, upload_idle_ms: config.UPLOAD_IDLE_SECONDS * 1_000 }),
    ...createA2a(core, parts, oauthParts, signals.draining.signal),
    ...rest.handlers,
  ];
  const { port, webSocket } = await startServer(
    core,
    lifecycle,
    { handlers, cookie_keys, live, limits, execute: parts.executeFor('ws'), mcp, signals },
    overrides,
  );
  logger.info({ port, public_url: config.PUBLIC_URL }, 'API ready');
  return { port, ops_port, live, mcp, webSocket, pages, storage: oauthParts.storage };
}
