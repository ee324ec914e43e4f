import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Core } from '../compose.ts';
import type { Execute } from '../operations/execute/execute.ts';
import type { RateLimits } from '../operations/rate-limits.ts';
import { createWebSocketMetrics } from '../ops/stream-metrics.ts';
import { type AppParts, createApp } from '../transports/http/app.ts';
import { limitConnections } from '../transports/http/connection-limit.ts';
import { closeServer, createHttpServer, listen } from '../transports/http/server.ts';
import { createWebSocketTransport } from '../transports/ws/transport.ts';
import { createWarningLog } from './connections.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { ApiOverrides } from './overrides.ts';
import type { LiveParts } from './realtime.ts';

/** The two steps of a graceful stop. */
export interface StopSignals {
  /** Readiness fails, so that load balancers stop sending requests; all requests are still served. */
  leaving: AbortController;
  /** Long polls end at once. */
  draining: AbortController;
}

interface ServerParts {
  handlers: AppParts['handlers'];
  cookie_keys: string[];
  live: LiveParts;
  limits: RateLimits;
  /** For the calls of WebSocket clients. */
  execute: Execute;
  mcp: { close(): Promise<void> };
  signals: StopSignals;
}

/** Serves HTTP and WebSocket on PORT, and registers how both stop. */
export async function startServer(
  core: Core,
  lifecycle: Lifecycle,
  { handlers, cookie_keys, live, limits, execute, mcp, signals }: ServerParts,
  overrides: ApiOverrides,
) {
  const { config, logger } = core;
  const { leaving, draining } = signals;
  const is_https = config.PUBLIC_URL.startsWith('https:');
  const app = createApp({ logger, trust_proxy: config.TRUST_PROXY, is_https, keys: cookie_keys, handlers });
  const server = createHttpServer(app.callback(), () => leaving.signal.aborted);
  const webSocket = createWebSocketTransport({
    realtime: live.realtime,
    rateLimits: limits,
    execute,
    tokens: live.tokens,
    redeem: live.tickets.redeem,
    metadata_url: `${config.PUBLIC_URL}/.well-known/oauth-protected-resource/ws`,
    log: createWarningLog(logger),
    onOtherUpgrade: (socket) => void server.emit('connection', socket),
    metrics: createWebSocketMetrics(core.metrics),
    ...(overrides.webSocketLimits && { limits: overrides.webSocketLimits }),
  });
  const reserved = 100 + config.DATABASE_POOL_SIZE + config.UPLOADS_PER_PROCESS;
  const warn = (message: string) => logger.warn({}, message);
  server.on('upgrade', limitConnections(server, reserved, warn, webSocket.upgrade));
  await listen(server, config.PORT, config.HOST, 'HOST, PORT');

  lifecycle.onStop('calls', 5_000, () => closeServer(server));
  lifecycle.onStop('MCP streams', 5_000, () => mcp.close());
  lifecycle.onStop('sockets', 5_000, () => webSocket.close());
  const leaveMs = config.DRAIN_SECONDS * 1_000;
  lifecycle.onStop('readiness', leaveMs + 1_000, async (haste) => {
    leaving.abort();
    await pause(leaveMs, undefined, { signal: haste }).catch(() => undefined); // rejects when the stop is hastened
    draining.abort();
  });
  const { port } = server.address() as AddressInfo;
  return { port, webSocket };
}
