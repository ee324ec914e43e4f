import { system } from '../../packages/core/src/domain/auth/audit.ts';
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApi } from '../../src/api.ts';
import { compose, type Core } from '../../src/compose.ts';
import { loadConfig } from '../../src/config.ts';
import type { Visibility } from '../../packages/core/src/domain/agents/agents.ts';
import type { Scope } from '../../packages/core/src/domain/auth/scopes.ts';
import { openProcessTracing } from '../../src/start/connections.ts';
import { createLifecycle } from '../../src/start/lifecycle.ts';
import type { ApiOverrides, CoreOverrides } from '../../src/start/overrides.ts';
import {
  type OperatorRegistration,
  registerAgentAsOperator,
} from '../../src/services/agents/operator-registration.ts';
import { issueToken } from '../../src/services/auth/issue-token.ts';
import { type TokenAudience, toResourceUrls } from '../../src/services/auth/tokens.ts';
import { defaultPacing, type WebhookPacing } from '../../packages/core/src/domain/webhooks.ts';
import { defaultNotifications, type NotificationOptions } from '../../workers/notifications.ts';
import { startWorker } from '../../workers/start.ts';
import type { ReadWork, SystemWork } from '../../src/work/unit-of-work.ts';
import { createTestDatabase } from './servers/postgres/database.ts';
import { stopBeforeFakeTimers } from './fake-timers.ts';
import { startTestRedis } from './servers/redis/server.ts';
import { uniqueName } from './unique-name.ts';
import { use } from './use.ts';
import { createRestMethods, requestRest } from '../clients/rest.ts';

/** Where queues and bus are. */
export const backends = ['redis', 'postgres'] as const;
export type Backend = (typeof backends)[number];

export const allTestScopes: readonly Scope[] = [
  'threads:read',
  'threads:write',
  'contacts:read',
  'contacts:write',
];

/** Settings for a test service on this database. */
export function buildTestEnv(databaseUrl: string): Record<string, string> {
  return {
    DATABASE_URL: databaseUrl,
    SECRET_KEY: randomBytes(32).toString('base64'),
    HOST: '127.0.0.1',
    PORT: '0',
    LOG_LEVEL: 'error',
    PUBLIC_URL: 'http://localhost:3000',
    RATE_LIMITS: 'off',
    SEND_CONTEXT: 'compare',
    UPLOADS_PER_AGENT: '100',
    DRAIN_SECONDS: '0',
    REMOTE_AGENTS: 'true',
    DATA_DIR: join(tmpdir(), `ams-data-${new URL(databaseUrl).pathname.slice(1)}`),
  };
}

export interface TestSettings {
  env: Record<string, string>;
  release(): Promise<void>;
}

/** Settings with a new database, a new Redis if the backend is Redis, and a random secret. `release` removes them. */
export async function createTestSettings(backend: Backend): Promise<TestSettings> {
  const database = await createTestDatabase();
  const redis = backend === 'redis' ? await startTestRedis() : null;
  const env = buildTestEnv(database.url);
  return {
    env: { ...env, ...(redis && { REDIS_URL: redis.url }) },
    async release() {
      await redis?.stop();
      await rm(String(env['DATA_DIR']), { recursive: true, force: true });
      await database.drop();
    },
  };
}

export interface TestAgent {
  id: string;
  handle: string;
  token: string;
}

export interface AgentOptions {
  audience?: TokenAudience;
  scopes?: readonly Scope[];
  /** Seconds. */
  expires_in?: number;
  visibility?: Visibility;
  inbound_policy?: 'contacts_only' | 'trusted_only' | 'allowlist' | 'open';
}

/** An agent of a new owner, open to everybody by default, and a token for it. */
export async function buildAgent(core: Core, options: AgentOptions = {}): Promise<TestAgent> {
  const handle = `${uniqueName('owner')}.agent`;
  const { visibility = 'public', inbound_policy = 'open' } = options;
  return registerAgent(core, { handle, create_owner: true, visibility, inbound_policy }, options);
}

/** An agent registered by an operator, and a token for it. */
export async function registerAgent(
  core: Core,
  agent: OperatorRegistration,
  options: AgentOptions = {},
): Promise<TestAgent> {
  const { id } = await core.unitOfWork.write(system, (work) => registerAgentAsOperator(work, agent));
  return { id, handle: agent.handle, token: await issueTokenFor(core, agent.handle, options) };
}

/** A token for an existing agent. */
export async function issueTokenFor(core: Core, handle: string, options: AgentOptions = {}): Promise<string> {
  const { audience = 'api', scopes = allTestScopes, expires_in = 900 } = options;
  const resource = toResourceUrls(core.config.PUBLIC_URL)[audience];
  const issued = await core.unitOfWork.write(system, (work) =>
    issueToken(work, { handle, resource, scopes, expires_in }),
  );
  return issued.access_token;
}

/** A thread of these agents, without a message. Returns its id. */
async function openThread(
  api: string,
  { token }: Pick<TestAgent, 'token'>,
  to: readonly Pick<TestAgent, 'handle'>[],
): Promise<string> {
  const body = { participants: to.map(({ handle }) => handle) };
  const { status, text, body: thread } = await requestRest('POST', `${api}/threads`, { token, body });
  if (status !== 201) throw new Error(`no thread: ${text}`);
  return String(thread.id);
}

export interface ServiceOptions {
  backend?: Backend;
  /** False: no worker. */
  worker?: boolean;
  env?: Record<string, string>;
  /** Changes the notifications of the worker. */
  notifications?: Partial<NotificationOptions>;
  /** Changes the pacing of what the worker sends. */
  pacing?: Partial<WebhookPacing>;
  /** Instead of a new database, for example to start a second process on the same one. */
  settings?: TestSettings;
  /** Changes the API process, not the worker. */
  overrides?: ApiOverrides & CoreOverrides;
}

/** The production composition: one API and one worker in this process, by default on a new database. */
export async function startService(options: ServiceOptions = {}) {
  const { overrides } = options;
  const settings = options.settings ?? (await createTestSettings(options.backend ?? 'postgres'));
  const config = loadConfig({ ...settings.env, ...options.env });
  const tracing = await openProcessTracing(config, 'test');
  const core = compose(config, 'test', tracing, overrides);
  const lifecycle = createLifecycle(core.logger);
  lifecycle.onStop('settings', 20_000, settings.release);
  const { port, ops_port, ...parts } = await startApi(core, lifecycle, overrides);
  const notifications = { ...defaultNotifications, ...options.notifications };
  const pacing = { ...defaultPacing, ...options.pacing };
  const worker =
    (options.worker ?? true) &&
    (await startWorker(compose(config, 'test-worker', tracing), lifecycle, pacing, notifications));
  const url = `http://127.0.0.1:${port}`;
  return {
    core,
    /** Parts of the API process, for tests that inspect them. */
    parts,
    env: { ...settings.env, ...options.env },
    url,
    api: `${url}/v1`,
    ...createRestMethods(`${url}/v1`),
    /** Runs as the system in a transaction, or with `read` without one. */
    write: <T>(run: (work: SystemWork) => Promise<T>) => core.unitOfWork.write(system, run),
    read: <T>(run: (work: ReadWork) => Promise<T>) => core.unitOfWork.read(system, run),
    sql: <Row extends object>(text: string, values: readonly unknown[] = []) =>
      core.database.query<Row>({ text }, values),
    /** The operator listeners; with OPS_PORT only. */
    ops: {
      api: `http://127.0.0.1:${ops_port}`,
      worker: `http://127.0.0.1:${worker ? worker.ops_port : undefined}`,
    },
    agent: (agent?: AgentOptions) => buildAgent(core, agent),
    thread: (from: Pick<TestAgent, 'token'>, ...to: Pick<TestAgent, 'handle'>[]) =>
      openThread(`${url}/v1`, from, to),
    register: (agent: OperatorRegistration, token?: AgentOptions) => registerAgent(core, agent, token),
    token: (handle: string, agent?: AgentOptions) => issueTokenFor(core, handle, agent),
    async stop() {
      const isClean = await lifecycle.stop('the test is over');
      const { values } = await core.metrics.sendThreads.get();
      if (values.some(({ labels }) => labels.outcome === 'different'))
        throw new Error('the cache of sends differed; see the log');
      return isClean;
    },
  };
}

let shared: Promise<TestService> | undefined;

/**
 * The service of this worker, without jobs: all files that need nothing else of a service share it. They create agents and people of their
 * own, and change neither settings nor rows of others. `stop` does nothing; the service ends with the process, or before timers are faked.
 */
export async function openSharedService(): Promise<TestService> {
  shared ??= startSharedService();
  return { ...(await shared), stop: () => Promise.resolve(true) };
}

/** A service for the tests of one file; see `startService`. */
export const useService = (options?: ServiceOptions): TestService => use(() => startService(options));

/** The shared service for the tests of one file; see `openSharedService`. */
export const useSharedService = (): TestService => use(openSharedService);

async function startSharedService(): Promise<TestService> {
  const service = await startService({ worker: false });
  stopBeforeFakeTimers(() => {
    shared = undefined;
    return service.stop();
  });
  return service;
}

export type TestService = Awaited<ReturnType<typeof startService>>;
