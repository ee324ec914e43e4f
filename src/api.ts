import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Core } from './compose.ts';
import { createConsoleTransport } from './transports/console/transport.ts';
import { createPageRenderer } from './transports/console/renderer.tsx';
import { deriveKey } from './shared/derived-key.ts';
import { eventTransports } from './start/event-transports.ts';
import { createApp } from './transports/http/app.ts';
import { authenticate } from './transports/http/authenticate.ts';
import { serveHealth } from './transports/http/health.ts';
import { measureRequests } from './transports/http/request-metrics.ts';
import { closeServer, createHttpServer, listen } from './transports/http/server.ts';
import { traceRequests } from './transports/http/trace-requests.ts';
import type { Additions } from './transports/mcp/additions.ts';
import { startInstanceGuard } from './start/instance-guard.ts';
import { createMcpTransport } from './transports/mcp/transport.ts';
import { createOAuthTransport } from './transports/oauth/transport.ts';
import { watchSigningKeys } from './transports/oauth/signing-key-watcher.ts';
import { catalogue } from './operations/catalogue.ts';
import { countOutcomes } from './operations/execute/count-outcomes.ts';
import { createExecute, type Execute } from './operations/execute/execute.ts';
import { createIntake } from './operations/execute/file-intake.ts';
import { createRateLimits } from './operations/rate-limits.ts';
import { createReadCard } from './operations/agents/read-card.ts';
import { healthChecks } from './ops/health-checks.ts';
import { listenForOperators, composeOpsMiddleware } from './ops/listener.ts';
import { createStreamMetrics, createWebSocketMetrics } from './ops/stream-metrics.ts';
import { type ErrorLog, createLimitedLog } from './shared/error-log.ts';
import type { Lifecycle } from './start/lifecycle.ts';
import { createOpenIdClient } from './platform/outbound/openid.ts';
import { createPublicFetch } from './platform/outbound/public-fetch.ts';
import { untraced } from './platform/observability/tracing.ts';
import { createBatchLoader } from './shared/batch-loader.ts';
import { createRealtime } from './realtime/create.ts';
import { createReceipts } from './realtime/receipts.ts';
import { asyncApiDocument } from './transports/rest/asyncapi/document.ts';
import { serveBlobs } from './transports/rest/blobs.ts';
import { cardRoute } from './transports/rest/card.ts';
import { serveDescriptions } from './transports/rest/description-documents.ts';
import { serveDocs } from './transports/rest/docs.ts';
import { eventRoutes } from './transports/rest/events.ts';
import { openApiDocument } from './transports/rest/openapi/document.ts';
import { limitByAddress } from './transports/rest/public-limit.ts';
import { createRestTransport } from './transports/rest/router.ts';
import { streamTicketRoutes } from './transports/rest/stream-tickets.ts';
import { createOAuthStorage } from './services/auth/oauth-storage.ts';
import { detectRestore } from './services/feed-epoch.ts';
import { recordDeliveries } from './services/threads/receipts.ts';
import { parseRevocation, revocationMessages, revocationTopic } from './services/auth/revocations.ts';
import { loadSigningKeys, signingKeysTopic } from './services/auth/signing-keys.ts';
import { createStreamTickets } from './services/auth/stream-tickets.ts';
import { createTokens, isEndedBy, toResourceUrls, type Revocation } from './services/auth/tokens.ts';
import { createWebSocketTransport } from './transports/ws/transport.ts';

/**
 * Starts one API process: every door over one core. It stops in phases: balancers are told and get time to notice, open streams
 * end, calls under way finish, connections close.
 * @param additions what judges of the tool server look for; the entry of the service has none.
 * @returns the port that it listens on, and the one for operators when it has one.
 */
export async function startApi(
  core: Core,
  lifecycle: Lifecycle,
  { additions }: { additions?: Additions } = {},
): Promise<{ port: number; ops_port: number | undefined }> {
  const { config, logger, metrics, tracing, repositories, unitOfWork, bus, cursors } = core;
  const { PUBLIC_URL: public_url } = config;
  const log = (message: string, error: unknown) => logger.warn({ err: error }, message);
  /** From then on balancers are told to go elsewhere; everybody is still served. */
  const leaving = new AbortController();
  /** From then on nobody waits here for anything. */
  const draining = new AbortController();
  const isLeaving = () => leaving.signal.aborted;
  lifecycle.onStop('connections', 5_000, () => core.close());

  const restored = await detectRestore(unitOfWork);
  if (restored !== null && restored > 0)
    logger.warn({ feeds: restored }, 'this database is new here: feeds begin new numbers');
  const leaveQueues = await startInstanceGuard(core);
  lifecycle.onStop('queues', 1_000, async () => leaveQueues());
  core.replicas.watch();
  const resources = toResourceUrls(public_url);
  const tokens = createTokens({ find: createTokenFinder(unitOfWork), resources });
  const tickets = createStreamTickets({ unitOfWork, tokens });
  const receipts = createReceipts({
    write: (batch) => unitOfWork.writeAsSystem((work) => recordDeliveries(work, batch)),
    log,
  });
  lifecycle.onStop('receipts', 2_000, () => receipts.close());
  const realtime = createRealtime({
    feed: repositories.feed,
    presence: repositories.presence,
    receipts,
    bus,
    cursors,
    log,
    metrics: createStreamMetrics(metrics),
    async listValidTokens(ids) {
      const since = Date.now();
      const hashes = ids.map((id) => Buffer.from(id, 'base64url'));
      const good = await unitOfWork.readAsSystem((all) => all.tokens.listValid(hashes, since));
      const names = new Set(good.map((hash) => hash.toString('base64url')));
      tokens.extend(names, since);
      return names;
    },
  });
  core.onCommit(realtime.fanOut);
  metrics.countStreams(realtime.stats);
  lifecycle.onStop('streams', 5_000, () => realtime.close());
  function revoke(ended: Revocation): void {
    tokens.forget(ended);
    realtime.revoke((actor) => isEndedBy(ended, actor));
  }
  await bus.subscribe(revocationTopic, (body) => revoke(parseRevocation(body)));

  /** Ends here what has ended before anybody is answered; the other processes hear of it. */
  async function publish(ended: readonly Revocation[]): Promise<void> {
    if (ended.length === 0) return;
    ended.forEach(revoke);
    await bus
      .publish(revocationMessages(ended))
      .catch((error: unknown) => log('revocation not announced', error));
  }
  const metadata_url = `${public_url}/.well-known/oauth-protected-resource/ws`;
  const limits = createRateLimits(core.limiter);
  const intake = createIntake({
    blobs: core.blobs,
    types: config.ATTACHMENT_TYPES,
    limits: { per_agent: config.UPLOADS_PER_AGENT, per_process: config.UPLOADS_PER_PROCESS },
    log,
  });
  const execute = createExecute(unitOfWork, limits, intake);
  const executeFor = (door: string) => {
    const traced: Execute = (call) =>
      tracing.span(call.operation.name, { kind: 'internal' }, (note) => {
        note({ 'ams.operation': call.operation.name, 'ams.door': door });
        return execute(call);
      });
    return countOutcomes(traced, (operation, outcome) =>
      metrics.operations.inc({ operation, door, outcome }),
    );
  };
  const health = serveHealth(healthChecks(core), isLeaving);
  // The console has the same keys: it reads and writes the cookies of requests that a person decides about.
  const cookie_keys = [deriveKey(config.SECRET_KEY, 'cookies').toString('base64url')];
  const loadKeys = () => loadSigningKeys(unitOfWork, config.SECRET_KEY);
  const signing_keys = await loadKeys();
  const csrf_key = deriveKey(config.SECRET_KEY, 'console forms');
  const renderer = await createPageRenderer({ public_url, csrf_key });
  const oauth = createOAuthTransport({
    issuer: public_url,
    resources,
    storage: createOAuthStorage({
      unitOfWork,
      publish,
      refresh_grace_ms: config.REFRESH_GRACE_SECONDS * 1_000,
    }),
    limits,
    cookie_keys,
    signing_keys,
    trust_proxy: config.TRUST_PROXY,
    readDocument: createPublicFetch({ timeoutMs: 2_500, maxBytes: 5 * 1_024 }),
    errorPage: (ctx, words) => renderer.errorPage(ctx, words),
    report: (error) => log('the authorization server failed', error),
  });
  const keys = watchSigningKeys(signing_keys, { load: loadKeys, onChange: oauth.replaceKeys, log });
  lifecycle.onStop('signing keys', 1_000, async () => keys.stop());
  await bus.subscribe(signingKeysTopic, () => void keys.refresh());
  const mcp = createMcpTransport({
    execute: executeFor('mcp'),
    onSlowReader: () => metrics.slowReaders.inc({ door: 'mcp' }),
    catalogue,
    tokens,
    realtime,
    sessions: repositories.mcpSessions,
    bus,
    public_url,
    allowed_hosts: config.ALLOWED_HOSTS,
    logger,
    version: config.VERSION,
    additions,
  });
  const api_metadata_url = `${public_url}/v1/.well-known/oauth-protected-resource`;
  const authenticated = authenticate(tokens, 'api', api_metadata_url);
  const card = cardRoute({
    readCard: createReadCard(unitOfWork, executeFor('rest')),
    authenticate: authenticated,
    limited: limitByAddress(limits),
  });
  const routes = [
    ...eventRoutes(realtime, limits, draining.signal),
    ...streamTicketRoutes(tickets.issue, limits),
    card,
  ];
  const rest = createRestTransport({
    execute: executeFor('rest'),
    upload_idle_ms: config.UPLOAD_IDLE_SECONDS * 1_000,
    catalogue,
    authenticate: authenticated,
    base_url: resources.api,
    routes,
  });
  const about = { base_url: resources.api, public_url, version: config.VERSION };
  const description = serveDescriptions({
    '/v1/openapi.json': () => openApiDocument({ catalogue, routes, ...about }),
    '/v1/asyncapi.json': () => asyncApiDocument({ transports: eventTransports, ...about }),
  });
  const webSocket = createWebSocketTransport({
    realtime,
    tokens,
    redeem: tickets.redeem,
    metadata_url,
    log,
    onOtherUpgrade: (socket) => void server.emit('connection', socket),
    metrics: createWebSocketMetrics(metrics),
  });

  const people = createConsoleTransport({
    renderer,
    requests: oauth.requests,
    unitOfWork,
    execute: executeFor('console'),
    catalogue,
    limits,
    publishRevocations: publish,
    addresses: core.addresses,
    settings: { public_url, signup: config.SIGNUP, export_days: config.EXPORT_RETENTION_DAYS },
    external: createExternalSignIn(config, log),
    logger,
  });
  const blobs = serveBlobs(core.apiAddresses, core.blobs);
  const ops_port = await listenForOperators(core, lifecycle, isLeaving);
  const handlers = [
    ...(tracing === untraced ? [] : [traceRequests(tracing)]),
    measureRequests((labels, seconds) => metrics.requests.observe(labels, seconds)),
    health,
    ...(ops_port === undefined ? [composeOpsMiddleware(core, 'this-machine')] : []),
    mcp.middleware,
    oauth.middleware,
    description,
    await serveDocs(),
    people,
    blobs,
    ...rest,
  ];
  const app = createApp({ logger, trust_proxy: config.TRUST_PROXY, keys: cookie_keys, handlers });
  const server = createHttpServer(app.callback(), isLeaving);
  server.on('upgrade', webSocket.upgrade);
  await listen(server, config.PORT, config.HOST);

  lifecycle.onStop('calls', 5_000, () => closeServer(server));
  lifecycle.onStop('MCP streams', 5_000, () => mcp.close());
  lifecycle.onStop('sockets', 5_000, () => webSocket.close());
  const leave_ms = config.DRAIN_SECONDS * 1_000;
  lifecycle.onStop('readiness', leave_ms + 1_000, async (haste) => {
    leaving.abort();
    await pause(leave_ms, undefined, { signal: haste }).catch(() => undefined); // in haste nobody is waited for
    draining.abort();
  });
  const { port } = server.address() as AddressInfo;
  logger.info({ port, public_url }, 'API ready');
  return { port, ops_port };
}

type TokenRow = Awaited<ReturnType<Core['repositories']['tokens']['findAll']>>[number];

/** Looks tokens up together: a crowd that comes back at once must not queue for the database one by one. */
function createTokenFinder(unitOfWork: Core['unitOfWork']) {
  const find = createBatchLoader<Buffer, { row: TokenRow | undefined }>({
    key: (hash) => hash.toString('base64url'),
    async load(hashes) {
      const rows = await unitOfWork.readAsSystem((all) => all.tokens.findAll(hashes));
      return hashes.map((hash) => ({ row: rows.find(({ token_hash }) => token_hash.equals(hash)) }));
    },
    maxBatchSize: 100,
    maxConcurrent: 2,
  });
  return async (hash: Buffer) => (await find(hash)).row;
}

/** The OpenID Connect provider that the settings name, for people who sign in there. */
function createExternalSignIn(config: Core['config'], log: ErrorLog) {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: client_id, OIDC_CLIENT_SECRET: client_secret } = config;
  if (issuer === undefined || client_id === undefined) return undefined;
  const redirect_uri = `${config.PUBLIC_URL}/sign-in/external/callback`;
  const provider = createOpenIdClient({
    issuer,
    client_id,
    client_secret,
    redirect_uri,
    log: createLimitedLog(log),
  });
  return { name: config.OIDC_NAME ?? new URL(issuer).host, provider };
}
