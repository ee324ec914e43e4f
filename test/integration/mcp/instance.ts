import { disabledAddresses, disabledIntake } from '../../support/stubs.ts';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { createCursors } from '../../../src/domain/feed/cursors.ts';
import type { ApprovalDecision } from '../../../src/domain/approvals.ts';
import { packWakeups } from '../../../src/domain/feed/wakeups.ts';
import { type Scope, scopes } from '../../../src/domain/auth/scopes.ts';
import { createApp } from '../../../src/transports/http/app.ts';
import { createMcpTransport } from '../../../src/transports/mcp/transport.ts';
import type { McpParts } from '../../../src/transports/mcp/parts.ts';
import { catalogue } from '../../../src/operations/catalogue.ts';
import { createExecute } from '../../../src/operations/execute/execute.ts';
import { createRateLimits } from '../../../src/operations/rate-limits.ts';
import { createPostgresBus } from '../../../src/platform/bus/postgres.ts';
import { createRedisBus } from '../../../src/platform/bus/redis.ts';
import { openDatabase } from '../../../src/platform/database/database.ts';
import { unlimited } from '../../../src/platform/rate-limits/limiter.ts';
import type { Logger } from '../../../src/platform/observability/logger.ts';
import { createRealtime } from '../../../src/realtime/create.ts';
import { createReceipts } from '../../../src/realtime/receipts.ts';
import { Repositories } from '../../../src/repositories/index.ts';
import { registerAgentAsOperator } from '../../../src/services/agents/operator-registration.ts';
import { decideAsOperator } from '../../../src/services/approvals/approvals.ts';
import { issueToken } from '../../../src/services/auth/issue-token.ts';
import { createOrganization } from '../../../src/services/people/organizations.ts';
import { recordDeliveries } from '../../../src/services/threads/receipts.ts';
import { createTokens, type TokenAudience, toResourceUrls } from '../../../src/services/auth/tokens.ts';
import { createUnitOfWork } from '../../../src/work/unit-of-work.ts';
import { disabledOutbound } from '../../support/outbound-stub.ts';

export interface TokenOptions {
  audience?: TokenAudience;
  scopes?: readonly Scope[];
  expires_in?: number;
}

export interface McpInstance {
  url: string;
  /** What was logged as an error. */
  loggedErrors: object[];
  /** A token of an agent that this makes when it does not exist. */
  token(handle: string, options?: TokenOptions): Promise<string>;
  /** Makes an organization; agents whose handle begins with its slug are its own. */
  organization(slug: string): Promise<void>;
  revoke(handle: string): void;
  /** How many streams and waiting calls of an agent are open. */
  members(handle: string): number;
  /** Decides about an approval, as an operator. */
  decide(id: string, decision: ApprovalDecision): Promise<void>;
  /** What time or an operator would do to the rows. */
  query(text: string, values: readonly unknown[]): Promise<object[]>;
  /** The first step of a stop: nobody waits any longer. */
  drain(): Promise<void>;
  close(): Promise<void>;
  /** Moves the clock forward by which tokens end here. */
  advanceTime(ms: number): void;
  /** Resolves when nothing that goes from process to process is lost. */
  connected(): Promise<void>;
}

const publicUrl = 'http://localhost:3000';
const secret = 'a secret of the tests, long enough to be taken for one';

/** One API process's worth of tool server over a database, at a port of its own. Several of them on one database are a cluster. */
export async function startMcpInstance(
  databaseUrl: string,
  {
    receipts: keepsReceipts = false,
    redis_url,
    ...options
  }: Partial<McpParts> & { receipts?: boolean; redis_url?: string } = {},
): Promise<McpInstance> {
  const loggedErrors: object[] = [];
  const logger = createErrorRecorder(loggedErrors);
  const database = openDatabase({
    url: databaseUrl,
    poolSize: 8,
    onError: (error) => loggedErrors.push(error),
  });
  const repositories = new Repositories(database);
  const cursors = createCursors(secret);
  const log = (_: string, error: unknown) => void loggedErrors.push({ error });
  // What the bus cannot do on a busy machine is no fault of the tool server, which finds out without it.
  const quiet = () => undefined;
  const bus =
    redis_url === undefined
      ? createPostgresBus({ url: databaseUrl, channel: 'mcp_tests', log: quiet })
      : createRedisBus({ url: redis_url, prefix: 'mcp-tests:', log: quiet });
  const unitOfWork = createUnitOfWork({
    database,
    settings: {
      cursors,
      addresses: disabledAddresses,
      loopLimit: null,
      unsentLimit: null,
      maxAgents: null,
      ...disabledOutbound,
    },
    jobsOf: () => [],
    publish({ positions }) {
      bus.publish(packWakeups(positions)).catch(() => undefined);
    },
  });
  const resources = toResourceUrls(publicUrl);
  let ahead = 0;
  const tokens = createTokens({
    find: (hash) => repositories.tokens.find(hash),
    resources,
    now: () => Date.now() + ahead,
  });
  const intervals = { healthy_ms: 2_000, unhealthy_ms: 100 };
  const receipts = createReceipts({
    write: (batch) => unitOfWork.writeAsSystem((work) => recordDeliveries(work, batch)),
    log,
    batch_wait_ms: 10,
  });
  const realtime = createRealtime({
    ...(keepsReceipts && { receipts }),
    feed: repositories.feed,
    presence: repositories.presence,
    bus,
    cursors,
    log,
    listValidTokens: async (ids) => new Set(ids),
    intervals,
  });
  const face = createMcpTransport({
    execute: createExecute(unitOfWork, createRateLimits(unlimited), disabledIntake),
    catalogue,
    tokens,
    realtime,
    sessions: repositories.mcpSessions,
    bus,
    public_url: publicUrl,
    allowed_hosts: ['mcp.example.test'],
    logger,
    version: '0.0.0-test',
    ...options,
  });
  const app = createApp({ logger, trust_proxy: false, handlers: [face.middleware] });
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}`,
    loggedErrors,
    async token(handle, { audience = 'mcp', scopes: granted = scopes.slice(0, 4), expires_in = 900 } = {}) {
      return unitOfWork.writeAsSystem(async (work) => {
        const known = await work.agents.findByHandle(handle);
        if (!known)
          await registerAgentAsOperator(work, {
            handle,
            create_owner: true,
            inbound_policy: 'open',
            visibility: 'public',
          });
        const issued = await issueToken(work, {
          handle,
          resource: resources[audience],
          scopes: granted,
          expires_in,
        });
        return issued.access_token;
      });
    },
    async organization(slug) {
      await unitOfWork.writeAsSystem((work) => createOrganization(work, slug));
    },
    revoke(handle) {
      realtime.revoke((actor) => actor.handle === handle);
    },
    members(handle) {
      let open = 0;
      realtime.revoke((actor) => {
        if (actor.handle === handle) open += 1;
        return false;
      });
      return open;
    },
    async decide(id, decision) {
      await unitOfWork.writeAsSystem((work) => decideAsOperator(work, id, decision));
    },
    query: (text, values) => database.query({ text }, values),
    drain: () => face.close(),
    advanceTime(ms) {
      ahead += ms;
    },
    async connected() {
      while (!bus.isHealthy()) await pause(5);
    },
    async close() {
      await face.close();
      await realtime.close();
      await receipts.close();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      await bus.close();
      await database.close();
    },
  };
}

function createErrorRecorder(faults: object[]): Logger {
  const note = (fields: object) => void faults.push(fields);
  const ignore = () => {};
  return { debug: ignore, info: ignore, warn: note, error: note, fatal: note };
}
