import { a2aBaseUrl, a2aCardUrl } from '../../packages/core/src/domain/a2a.ts';
import { system } from '../../packages/core/src/domain/auth/audit.ts';
import type { Core } from '../compose.ts';
import { aliases } from '../operations/aliases.ts';
import { catalogue, remoteOperations } from '../operations/catalogue.ts';
import { createReadA2aCard } from '../operations/a2a/read-card.ts';
import { createReadCard } from '../operations/agents/read-card.ts';
import type { Execute } from '../operations/execute/execute.ts';
import type { RateLimits } from '../operations/rate-limits.ts';
import type { TransportDescription } from '../realtime/transport-description.ts';
import { decideInClient, findApproval, listApprovalsOfAgent } from '../services/approvals/approvals.ts';
import { readReview } from '../services/approvals/reviews.ts';
import { toResourceUrls } from '../services/auth/tokens.ts';
import { createServiceCalls } from '../services/people/service-calls.ts';
import { ensureEchoFor } from '../services/agents/echo.ts';
import { readFileAddress } from '../services/a2a/files.ts';
import { writeA2aError } from '../transports/a2a/errors.ts';
import { answerErrors } from '../transports/http/errors.ts';
import { enqueuePosting } from '../jobs/posting.ts';
import { type Callback, noteCallback, readCallback } from '../services/remote/callbacks.ts';
import { requireConfirmed } from '../services/remote/access.ts';
import { redeemRemoteInvitation } from '../services/remote/invitations.ts';
import { readAddress } from '../transports/a2a/interfaces.ts';
import type { CallbackParts } from '../transports/a2a/updates.ts';
import { createA2aTransport } from '../transports/a2a/transport.ts';
import { createConsoleTransport } from '../transports/console/transport.ts';
import { authenticate } from '../transports/http/authenticate.ts';
import { notificationsTransport } from '../transports/mcp/description.ts';
import { createMcpTransport } from '../transports/mcp/transport.ts';
import { asyncApiDocument } from '../transports/rest/asyncapi/document.ts';
import { cardRoute, limitByAddress } from '../transports/rest/card.ts';
import { runInTurns } from '../shared/steps.ts';
import { serveDescriptions } from '../transports/rest/description-documents.ts';
import { eventRoutes, longPollDescription } from '../transports/rest/events.ts';
import type { PathForm } from '../transports/rest/openapi/endpoints.ts';
import { openApiDocument } from '../transports/rest/openapi/document.ts';
import { createRestTransport } from '../transports/rest/router.ts';
import { streamTicketRoutes } from '../transports/rest/stream-tickets.ts';
import { webhooksDescription } from '../transports/rest/webhooks-description.ts';
import { webSocketDescription } from '../transports/ws/description.ts';
import { createEventSubscriptions } from './event-subscriptions.ts';
import { createExternalSignIn, type OAuthParts } from './oauth.ts';
import { pageLease } from '../../packages/core/src/domain/notifications.ts';
import type { ApiOverrides } from './overrides.ts';
import type { LiveParts } from './realtime.ts';

/** Every way to receive events, as the AsyncAPI document describes it. */
export const eventTransports: readonly TransportDescription[] = [
  webSocketDescription,
  notificationsTransport,
  longPollDescription,
  webhooksDescription,
];

export interface TransportParts {
  live: LiveParts;
  limits: RateLimits;
  executeFor(transport: string): Execute;
}

/** MCP over the catalogue. */
export function createMcp(core: Core, { live, limits, executeFor }: TransportParts, overrides: ApiOverrides) {
  const { config, metrics } = core;
  return createMcpTransport({
    execute: executeFor('mcp'),
    onSlowReader: () => metrics.slowReaders.inc({ transport: 'mcp' }),
    catalogue,
    tokens: live.tokens,
    realtime: live.realtime,
    sessions: core.db.mcpSessions,
    cursors: core.settings.cursors,
    limits,
    bus: core.bus,
    public_url: config.PUBLIC_URL,
    allowed_hosts: config.ALLOWED_HOSTS,
    logger: core.logger,
    sealedBox: core.settings.sealedBox,
    runWithin: core.tracing.runWithin,
    eventSubscriptions: createEventSubscriptions(core),
    decideApproval: (approval, decision, details) =>
      core.unitOfWork.write(system, (work) => decideInClient(work, approval, decision, details)),
    listApprovals: (agent_id) => core.unitOfWork.read(system, (work) => listApprovalsOfAgent(work, agent_id)),
    readReview: (approval) => core.unitOfWork.read(system, (work) => readReview(work, approval)),
    findApproval: (agent_id, id) => core.unitOfWork.read(system, (work) => findApproval(work, agent_id, id)),
    version: config.VERSION,
    ...overrides.mcp,
  });
}

/** REST over the catalogue, and the documents that describe it. `draining` ends long polls. */
export function createRest(
  { config, unitOfWork }: Core,
  { live, limits, executeFor }: TransportParts,
  draining: AbortSignal,
) {
  const { PUBLIC_URL: public_url, VERSION: version } = config;
  const base_url = toResourceUrls(public_url).api;
  const authenticated = authenticate(live.tokens, 'api', metadataUrl(public_url));
  const routes = [
    ...eventRoutes(live.realtime, limits, draining),
    ...streamTicketRoutes(live.tickets.issue, limits),
    cardRoute({
      readCard: createReadCard(unitOfWork, executeFor('rest')),
      authenticate: authenticated,
      limited: limitByAddress(limits),
    }),
  ];
  const offered = config.REMOTE_AGENTS
    ? catalogue
    : catalogue.filter((operation) => !remoteOperations.includes(operation));
  const operations = [...offered, ...aliases];
  const about = { base_url, public_url, version };
  const describeEvents = () => runInTurns(asyncApiDocument({ transports: eventTransports, ...about }));
  const describeCalls = (form: PathForm) =>
    runInTurns(openApiDocument({ catalogue: operations, routes, form, ...about }));
  const links = () => Promise.resolve(describeLinks(config));
  return {
    handlers: createRestTransport({
      execute: executeFor('rest'),
      upload_idle_ms: config.UPLOAD_IDLE_SECONDS * 1_000,
      catalogue: operations,
      authenticate: authenticated,
      base_url,
      routes,
      draining,
      onReplySent: (actor, { thread_id, sequence, sender }) =>
        live.realtime.markDelivered(actor, [{ message: { thread_id, sequence, sender_id: sender.id } }]),
    }),
    describeCalls: () => describeCalls('short'),
    describeEvents,
    /** For programs; the console serves the address to browsers. */
    root: serveDescriptions({ '/': links }),
    descriptions: serveDescriptions({
      '/v1': links,
      '/v1/meta': () => Promise.resolve({ name: 'agent-messaging-service', version }),
      '/v1/openapi.json': () => describeCalls('short'),
      '/v1/openapi-long-paths.json': () => describeCalls('long'),
      '/v1/asyncapi.json': describeEvents,
    }),
  };
}

/** A2A; nothing with `A2A=false`. `draining` ends waits and streams. */
export function createA2a(
  core: Core,
  { live, limits, executeFor }: TransportParts,
  { signJson }: Pick<OAuthParts, 'signJson'>,
  draining: AbortSignal,
) {
  const { config, unitOfWork, metrics, db } = core;
  if (!config.A2A) return [];
  const execute = executeFor('a2a');
  return createA2aTransport({
    execute,
    limits,
    realtime: live.realtime,
    authenticate: authenticate(live.tokens, 'api', metadataUrl(config.PUBLIC_URL), ({ path }) => {
      const { handle } = readAddress(path) ?? {};
      return handle && a2aBaseUrl(config.PUBLIC_URL, handle);
    }),
    requireConfirmed: (actor) => requireConfirmed(db, actor),
    answerErrors: answerErrors(core.logger, writeA2aError),
    waitMs: config.A2A_WAIT_SECONDS * 1_000,
    draining,
    onSlowReader: () => metrics.slowReaders.inc({ transport: 'a2a' }),
    readFileAddress: (sealed) => unitOfWork.read(system, (work) => readFileAddress(work, sealed)),
    callbacks: config.REMOTE_AGENTS ? createCallbacks(core) : undefined,
    redeem: config.REMOTE_AGENTS
      ? (secret, redeemer) =>
          unitOfWork.write(system, (work) => redeemRemoteInvitation(work, secret, redeemer))
      : undefined,
    readCard: createReadA2aCard(unitOfWork, execute),
    signJson,
    registerMissing: async (handle) => config.ECHO_AGENT && (await ensureEchoFor(unitOfWork, handle)),
  });
}

/** The worker reads the task of a callback. */
const createCallbacks = (core: Core): CallbackParts<Callback> => ({
  read: (sealed) => readCallback(core.settings, sealed),
  async note(callback) {
    await core.unitOfWork.write(system, (work) => noteCallback(work, callback));
    enqueuePosting(core, callback.thread_id);
  },
});

/** The metadata of /v1, whose tokens REST and A2A accept (RFC 9728). */
function metadataUrl(public_url: string): string {
  return `${public_url}/v1/.well-known/oauth-protected-resource`;
}

/** Where everything is, for a program that knows only the address. */
function describeLinks({
  PUBLIC_URL: public_url,
  VERSION: version,
  A2A,
}: Pick<Core['config'], 'PUBLIC_URL' | 'VERSION' | 'A2A'>): object {
  const { api, mcp, ws } = toResourceUrls(public_url);
  return {
    name: 'agent-messaging-service',
    version,
    links: {
      rest: api,
      mcp,
      websocket: ws,
      ...(A2A && { a2a_card: a2aCardUrl(public_url, '{owner}.{agent_name}') }),
      openapi: `${api}/openapi.json`,
      openapi_long_paths: `${api}/openapi-long-paths.json`,
      asyncapi: `${api}/asyncapi.json`,
      guide: `${public_url}/docs/guide`,
      reference: `${public_url}/docs`,
      events: `${public_url}/docs/events`,
      console: `${public_url}/console`,
      authorization_server: `${public_url}/.well-known/oauth-authorization-server`,
    },
  };
}

/** The console. `draining` ends live pages. */
export function createConsole(
  core: Core,
  { live, limits, executeFor }: TransportParts,
  { oauth, renderer }: OAuthParts,
  draining: AbortSignal,
  overrides: ApiOverrides,
) {
  const { config } = core;
  return createConsoleTransport({
    renderer,
    upload_idle_ms: config.UPLOAD_IDLE_SECONDS * 1_000,
    leasedStreamMs: overrides.leasedStreamMs ?? pageLease.streamMs,
    watch: live.watch,
    draining,
    requests: oauth.requests,
    services: createServiceCalls(core.unitOfWork),
    execute: executeFor('console'),
    catalogue,
    limits,
    publishRevocations: live.publishRevocations,
    settings: {
      public_url: config.PUBLIC_URL,
      signup: config.SIGNUP,
      has_echo_agent: config.ECHO_AGENT,
      has_a2a: config.A2A,
      has_remote_agents: config.REMOTE_AGENTS,
      export_days: config.EXPORT_RETENTION_DAYS,
      sends_mail: core.mailer !== undefined,
    },
    external: createExternalSignIn(core),
    logger: core.logger,
  });
}
