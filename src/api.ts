import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Core } from './compose.ts';
import { createConsoleFace } from './console/face.ts';
import { createPageWriter } from './console/writer.tsx';
import { derivedKey } from './domain/derived-key.ts';
import { eventDoors } from './event-doors.ts';
import { createApp } from './http/app.ts';
import { authenticate } from './http/authenticate.ts';
import { healthFace } from './http/health.ts';
import { measureRequests } from './http/measure.ts';
import { closeServer, createHttpServer, listen } from './http/server.ts';
import { traceRequests } from './http/trace.ts';
import type { Additions } from './mcp/additions.ts';
import { holdQueues } from './installation.ts';
import { createMcpFace } from './mcp/face.ts';
import { createOAuthFace } from './oauth/face.ts';
import { followKeys } from './oauth/follow-keys.ts';
import { catalogue } from './operations/catalogue.ts';
import { countedExecute } from './operations/counted.ts';
import { createExecute, type Execute } from './operations/execute.ts';
import { createIntake } from './operations/intake.ts';
import { createLimits } from './operations/limits.ts';
import { createReadCard } from './operations/read-card.ts';
import { healthChecks } from './ops/health-checks.ts';
import { listenForOperators, operatorsFace } from './ops/listener.ts';
import { streamMeter, webSocketMeter } from './ops/meters.ts';
import { type ErrorLog, limitedLog } from './platform/error-log.ts';
import type { Lifecycle } from './platform/lifecycle.ts';
import { createOpenId } from './platform/openid.ts';
import { publicFetch } from './platform/public-fetch.ts';
import { untraced } from './platform/tracing.ts';
import { batching } from './realtime/batching.ts';
import { createRealtime } from './realtime/create.ts';
import { createReceipts } from './realtime/receipts.ts';
import { asyncApiDocument } from './rest/asyncapi/document.ts';
import { blobsFace } from './rest/blobs.ts';
import { cardRoute } from './rest/card.ts';
import { descriptionFace } from './rest/description.ts';
import { docsFace } from './rest/docs.ts';
import { eventRoutes } from './rest/events.ts';
import { openApiDocument } from './rest/openapi/document.ts';
import { limitByAddress } from './rest/public-limit.ts';
import { createRestFaces } from './rest/router.ts';
import { streamTicketRoutes } from './rest/stream-tickets.ts';
import { createOAuthStorage } from './services/oauth-storage.ts';
import { recogniseRestore } from './services/feed-origin.ts';
import { recordDeliveries } from './services/receipts.ts';
import { parseRevocation, revocationMessages, revocationTopic } from './services/revocations.ts';
import { signingKeys, signingKeysTopic } from './services/signing-keys.ts';
import { createStreamTickets } from './services/stream-tickets.ts';
import { createTokens, isEndedBy, resourceAddresses, type Revocation } from './services/tokens.ts';
import { createWebSocketFace } from './ws/face.ts';

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

  const restored = await recogniseRestore(unitOfWork);
  if (restored !== null && restored > 0)
    logger.warn({ feeds: restored }, 'this database is new here: feeds begin new numbers');
  const leaveQueues = await holdQueues(core);
  lifecycle.onStop('queues', 1_000, async () => leaveQueues());
  core.replicas.watch();
  const resources = resourceAddresses(public_url);
  const tokens = createTokens({ find: tokenFinder(unitOfWork), resources });
  const tickets = createStreamTickets({ unitOfWork, tokens });
  const receipts = createReceipts({
    write: (batch) => unitOfWork.record((work) => recordDeliveries(work, batch)),
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
    meter: streamMeter(metrics),
    async goodTokens(ids) {
      const since = Date.now();
      const hashes = ids.map((id) => Buffer.from(id, 'base64url'));
      const good = await unitOfWork.consult((all) => all.tokens.good(hashes, since));
      const names = new Set(good.map((hash) => hash.toString('base64url')));
      tokens.prolong(names, since);
      return names;
    },
  });
  core.onCommit(realtime.handOver);
  metrics.countStreams(realtime.census);
  lifecycle.onStop('streams', 5_000, () => realtime.close());
  function revoke(ended: Revocation): void {
    tokens.forget(ended);
    realtime.revoke((actor) => isEndedBy(ended, actor));
  }
  await bus.subscribe(revocationTopic, (body) => revoke(parseRevocation(body)));

  /** Ends here what has ended before anybody is answered; the other processes hear of it. */
  async function announce(ended: readonly Revocation[]): Promise<void> {
    if (ended.length === 0) return;
    ended.forEach(revoke);
    await bus
      .publish(revocationMessages(ended))
      .catch((error: unknown) => log('revocation not announced', error));
  }
  const metadata_url = `${public_url}/.well-known/oauth-protected-resource/ws`;
  const limits = createLimits(core.limiter);
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
    return countedExecute(traced, (operation, outcome) =>
      metrics.operations.inc({ operation, door, outcome }),
    );
  };
  const health = healthFace(healthChecks(core), isLeaving);
  // The console has the same keys: it reads and writes the cookies of requests that a person decides about.
  const cookie_keys = [derivedKey(config.SECRET_KEY, 'cookies').toString('base64url')];
  const loadKeys = () => signingKeys(unitOfWork, config.SECRET_KEY);
  const signing_keys = await loadKeys();
  const csrf_key = derivedKey(config.SECRET_KEY, 'console forms');
  const writer = await createPageWriter({ public_url, csrf_key });
  const oauth = createOAuthFace({
    issuer: public_url,
    resources,
    storage: createOAuthStorage({
      unitOfWork,
      announce,
      refresh_grace_ms: config.REFRESH_GRACE_SECONDS * 1_000,
    }),
    limits,
    cookie_keys,
    signing_keys,
    trust_proxy: config.TRUST_PROXY,
    readDocument: publicFetch({ patience_ms: 2_500, largest: 5 * 1_024 }),
    errorPage: (ctx, words) => writer.errorPage(ctx, words),
    report: (error) => log('the authorization server failed', error),
  });
  const keys = followKeys(signing_keys, { load: loadKeys, use: oauth.replaceKeys, log });
  lifecycle.onStop('signing keys', 1_000, async () => keys.stop());
  await bus.subscribe(signingKeysTopic, () => void keys.look());
  const mcp = createMcpFace({
    execute: executeFor('mcp'),
    slow: () => metrics.slowReaders.inc({ door: 'mcp' }),
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
  const rest = createRestFaces({
    execute: executeFor('rest'),
    upload_idle_ms: config.UPLOAD_IDLE_SECONDS * 1_000,
    catalogue,
    authenticate: authenticated,
    base_url: resources.api,
    routes,
  });
  const about = { base_url: resources.api, public_url, version: config.VERSION };
  const description = descriptionFace({
    '/v1/openapi.json': () => openApiDocument({ catalogue, routes, ...about }),
    '/v1/asyncapi.json': () => asyncApiDocument({ doors: eventDoors, ...about }),
  });
  const webSocket = createWebSocketFace({
    realtime,
    tokens,
    redeem: tickets.redeem,
    metadata_url,
    log,
    passOn: (socket) => void server.emit('connection', socket),
    meter: webSocketMeter(metrics),
  });

  const people = createConsoleFace({
    writer,
    requests: oauth.requests,
    unitOfWork,
    execute: executeFor('console'),
    catalogue,
    limits,
    announce,
    addresses: core.addresses,
    settings: { public_url, signup: config.SIGNUP, export_days: config.EXPORT_RETENTION_DAYS },
    external: externalSignIn(config, log),
    logger,
  });
  const blobs = blobsFace(core.own_addresses, core.blobs);
  const ops_port = await listenForOperators(core, lifecycle, isLeaving);
  const faces = [
    ...(tracing === untraced ? [] : [traceRequests(tracing)]),
    measureRequests((labels, seconds) => metrics.requests.observe(labels, seconds)),
    health,
    ...(ops_port === undefined ? [operatorsFace(core, 'this-machine')] : []),
    mcp.middleware,
    oauth.middleware,
    description,
    await docsFace(),
    people,
    blobs,
    ...rest,
  ];
  const app = createApp({ logger, trust_proxy: config.TRUST_PROXY, keys: cookie_keys, faces });
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
function tokenFinder(unitOfWork: Core['unitOfWork']) {
  const find = batching<Buffer, { row: TokenRow | undefined }>({
    key: (hash) => hash.toString('base64url'),
    async load(hashes) {
      const rows = await unitOfWork.consult((all) => all.tokens.findAll(hashes));
      return hashes.map((hash) => ({ row: rows.find(({ token_hash }) => token_hash.equals(hash)) }));
    },
    size: 100,
    lanes: 2,
  });
  return async (hash: Buffer) => (await find(hash)).row;
}

/** The OpenID Connect provider that the settings name, for people who sign in there. */
function externalSignIn(config: Core['config'], log: ErrorLog) {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: client_id, OIDC_CLIENT_SECRET: client_secret } = config;
  if (issuer === undefined || client_id === undefined) return undefined;
  const redirect_uri = `${config.PUBLIC_URL}/sign-in/external/callback`;
  const provider = createOpenId({ issuer, client_id, client_secret, redirect_uri, log: limitedLog(log) });
  return { name: config.OIDC_NAME ?? new URL(issuer).host, provider };
}
