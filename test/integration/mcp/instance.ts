import { noAddresses, noIntake } from '../../support/no-files.ts';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { createCursors } from '../../../src/domain/cursors.ts';
import type { ApprovalDecision } from '../../../src/domain/approvals.ts';
import { packRings } from '../../../src/domain/rings.ts';
import { type Scope, scopes } from '../../../src/domain/scopes.ts';
import { createApp } from '../../../src/http/app.ts';
import { createMcpFace } from '../../../src/mcp/face.ts';
import type { McpParts } from '../../../src/mcp/parts.ts';
import { catalogue } from '../../../src/operations/catalogue.ts';
import { createExecute } from '../../../src/operations/execute.ts';
import { createLimits } from '../../../src/operations/limits.ts';
import { postgresBus } from '../../../src/platform/bus-postgres.ts';
import { redisBus } from '../../../src/platform/bus-redis.ts';
import { openDatabase } from '../../../src/platform/database.ts';
import { unlimited } from '../../../src/platform/limiter.ts';
import type { Logger } from '../../../src/platform/logger.ts';
import { createRealtime } from '../../../src/realtime/create.ts';
import { createReceipts } from '../../../src/realtime/receipts.ts';
import { repositoriesOn } from '../../../src/repositories/index.ts';
import { registerAgent } from '../../../src/services/agents-admin.ts';
import { decideForOperator } from '../../../src/services/approvals.ts';
import { issueToken } from '../../../src/services/issue-token.ts';
import { createOrganization } from '../../../src/services/organizations.ts';
import { recordDeliveries } from '../../../src/services/receipts.ts';
import { createTokens, type Door, resourceAddresses } from '../../../src/services/tokens.ts';
import { createUnitOfWork } from '../../../src/unit-of-work.ts';
import { noWayOut } from '../../support/no-way-out.ts';

export interface TokenOptions {
  door?: Door;
  scopes?: readonly Scope[];
  expires_in?: number;
}

export interface Instance {
  url: string;
  /** What was logged as an error. */
  faults: object[];
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
  later(ms: number): void;
  /** Resolves when nothing that goes from process to process is lost. */
  connected(): Promise<void>;
}

const publicUrl = 'http://localhost:3000';
const secret = 'a secret of the tests, long enough to be taken for one';

/** One API process's worth of tool server over a database, at a port of its own. Several of them on one database are a cluster. */
export async function startInstance(
  databaseUrl: string,
  {
    receipts: keepsReceipts = false,
    redis_url,
    ...options
  }: Partial<McpParts> & { receipts?: boolean; redis_url?: string } = {},
): Promise<Instance> {
  const faults: object[] = [];
  const logger = quietLogger(faults);
  const database = openDatabase({ url: databaseUrl, pool_size: 8, on_error: (error) => faults.push(error) });
  const repositories = repositoriesOn(database);
  const cursors = createCursors(secret);
  const log = (_: string, error: unknown) => void faults.push({ error });
  // What the bus cannot do on a busy machine is no fault of the tool server, which finds out without it.
  const quiet = () => undefined;
  const bus =
    redis_url === undefined
      ? postgresBus({ url: databaseUrl, channel: 'mcp_tests', log: quiet })
      : redisBus({ url: redis_url, prefix: 'mcp-tests:', log: quiet });
  const unitOfWork = createUnitOfWork({
    database,
    cursors,
    addresses: noAddresses,
    loop: null,
    unsent: null,
    most_agents: null,
    ...noWayOut,
    jobsOf: () => [],
    announce({ heads }) {
      bus.publish(packRings(heads)).catch(() => undefined);
    },
  });
  const resources = resourceAddresses(publicUrl);
  let ahead = 0;
  const tokens = createTokens({
    find: (hash) => repositories.tokens.find(hash),
    resources,
    now: () => Date.now() + ahead,
  });
  const intervals = { healthy_ms: 2_000, unhealthy_ms: 100 };
  const receipts = createReceipts({
    write: (batch) => unitOfWork.record((work) => recordDeliveries(work, batch)),
    log,
    gathering_ms: 10,
  });
  const realtime = createRealtime({
    ...(keepsReceipts && { receipts }),
    feed: repositories.feed,
    presence: repositories.presence,
    bus,
    cursors,
    log,
    goodTokens: async (ids) => new Set(ids),
    intervals,
  });
  const face = createMcpFace({
    execute: createExecute(unitOfWork, createLimits(unlimited), noIntake),
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
  const app = createApp({ logger, trust_proxy: false, faces: [face.middleware] });
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}`,
    faults,
    async token(handle, { door = 'mcp', scopes: granted = scopes.slice(0, 4), expires_in = 900 } = {}) {
      return unitOfWork.administer(async (work) => {
        const known = await work.agents.findByHandle(handle);
        if (!known)
          await registerAgent(work, {
            handle,
            create_owner: true,
            inbound_policy: 'open',
            visibility: 'public',
          });
        const issued = await issueToken(work, {
          handle,
          resource: resources[door],
          scopes: granted,
          expires_in,
        });
        return issued.access_token;
      });
    },
    async organization(slug) {
      await unitOfWork.administer((work) => createOrganization(work, slug));
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
      await unitOfWork.administer((work) => decideForOperator(work, id, decision));
    },
    query: (text, values) => database.query({ text }, values),
    drain: () => face.close(),
    later(ms) {
      ahead += ms;
    },
    async connected() {
      while (!bus.healthy()) await pause(5);
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

function quietLogger(faults: object[]): Logger {
  const note = (fields: object) => void faults.push(fields);
  const ignore = () => {};
  return { debug: ignore, info: ignore, warn: note, error: note, fatal: note };
}
