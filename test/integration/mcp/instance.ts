import { system } from '../../../packages/core/src/domain/auth/audit.ts';
import { setTimeout as pause } from 'node:timers/promises';
import type { ApprovalDecision } from '../../../packages/core/src/domain/approvals.ts';
import { type Scope, scopes } from '../../../packages/core/src/domain/auth/scopes.ts';
import { registerAgentAsOperator } from '../../../src/services/agents/operator-registration.ts';
import { decideAsOperator } from '../../../src/services/approvals/approvals.ts';
import type { TokenAudience } from '../../../src/services/auth/tokens.ts';
import { createOrganization } from '../../../src/services/people/organizations.ts';
import type { ApiOverrides } from '../../../src/start/overrides.ts';
import { createLogRecorder } from '../../support/log-recorder.ts';
import { createTestDatabase } from '../../support/servers/postgres/database.ts';
import { use } from '../../support/use.ts';
import { buildTestEnv, issueTokenFor, startService, type TestService } from '../../support/service.ts';

export interface TokenOptions {
  audience?: TokenAudience;
  scopes?: readonly Scope[];
  expires_in?: number;
}

export interface McpInstance {
  url: string;
  /** The version that the service reports. */
  version: string;
  /** Everything logged as a warning or an error, except by the bus, whose losses the service repairs. */
  loggedErrors: object[];
  /** A token of an agent; registers the agent if it does not exist. */
  token(handle: string, options?: TokenOptions): Promise<string>;
  /** Creates an organization; it owns the agents whose handle begins with its slug. */
  organization(slug: string): Promise<void>;
  revoke(handle: string): void;
  /** How many streams and waiting calls of an agent are open. */
  members(handle: string): number;
  /** Decides an approval, as an operator. */
  decide(id: string, decision: ApprovalDecision): Promise<void>;
  query(text: string, values: readonly unknown[]): Promise<object[]>;
  db: TestService['core']['db'];
  /** Ends all streams and waiting calls, as the first step of a stop. */
  drain(): Promise<void>;
  close(): Promise<void>;
  /** Advances the clock that decides whether a token has expired. */
  advanceTime(ms: number): void;
  /** Resolves when the bus is connected. */
  connected(): Promise<void>;
}

/** The same for all instances on one database. */
const secret = 'a secret of the tests, long enough to be taken for one';

type InstanceOptions = ApiOverrides['mcp'] & { receipts?: boolean; redis_url?: string; secret_key?: string };

/** One API process on this database, on a port of its own. Several on one database are a cluster. */
export async function startMcpInstance(
  databaseUrl: string,
  { receipts: hasReceipts = false, redis_url, secret_key = secret, ...mcp }: InstanceOptions = {},
): Promise<McpInstance> {
  const { logger, entries: loggedErrors } = createLogRecorder();
  let ahead = 0;
  const service = await startService({
    worker: false,
    settings: { env: buildTestEnv(databaseUrl), release: async () => {} },
    env: {
      SECRET_KEY: secret_key,
      DATABASE_POOL_SIZE: '8',
      ALLOWED_HOSTS: 'mcp.example.test',
      ...(redis_url !== undefined && { REDIS_URL: redis_url }),
    },
    overrides: {
      logger,
      hasReceipts,
      realtime: { intervals: { healthy_ms: 2_000, unhealthy_ms: 100 } },
      mcp,
      now: () => Date.now() + ahead,
    },
  });
  const { core, parts } = service;
  const { unitOfWork } = core;

  return {
    url: service.url,
    version: core.config.VERSION,
    db: core.db,
    loggedErrors,
    async token(handle, { audience = 'mcp', scopes: granted = scopes.slice(0, 4), expires_in = 900 } = {}) {
      await unitOfWork.write(system, async (work) => {
        if (await work.db.agents.findByHandle(handle)) return;
        await registerAgentAsOperator(work, {
          handle,
          create_owner: true,
          inbound_policy: 'open',
          visibility: 'public',
        });
      });
      return issueTokenFor(core, handle, { audience, scopes: granted, expires_in });
    },
    async organization(slug) {
      await unitOfWork.write(system, (work) => createOrganization(work, slug));
    },
    revoke(handle) {
      parts.live.realtime.revoke((actor) => actor.handle === handle);
    },
    members(handle) {
      let open = 0;
      parts.live.realtime.revoke((actor) => {
        if (actor.handle === handle) open += 1;
        return false;
      });
      return open;
    },
    async decide(id, decision) {
      await unitOfWork.write(system, (work) => decideAsOperator(work, id, decision));
    },
    query: (text, values) => core.database.query({ text }, values),
    drain: () => parts.mcp.close(),
    advanceTime(ms) {
      ahead += ms;
    },
    async connected() {
      while (!core.bus.isHealthy()) await pause(5);
    },
    async close() {
      await service.stop();
    },
  };
}

/** One instance, on a database of its own. */
export function useMcpInstance(options?: InstanceOptions): McpInstance {
  const database = use(createTestDatabase);
  return use(() => startMcpInstance(database.url, options));
}

/** Two instances on one database, and the database. */
export function useMcpPair(one?: InstanceOptions, other = one): [McpInstance, McpInstance, { url: string }] {
  const database = use(createTestDatabase);
  const start = (options?: InstanceOptions) => use(() => startMcpInstance(database.url, options));
  return [start(one), start(other), database];
}
