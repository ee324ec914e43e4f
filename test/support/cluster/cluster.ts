import { randomBytes } from 'node:crypto';
import { compose, type Core } from '../../../src/compose.ts';
import { loadConfig } from '../../../src/config.ts';
import { bundledProgram } from '../vitest/bundled-program.ts';
import { createTestDatabase } from '../servers/postgres/database.ts';
import { type ServiceProcess, startProcess } from '../../../scripts/parts/service-process.ts';
import { startTestRedis, type TestRedis } from '../servers/redis/server.ts';
import { type Backend, buildAgent, type TestAgent } from '../service.ts';
import { requestRest } from '../../clients/rest.ts';
import { stopAfterTest } from '../use.ts';

/** Several processes of the service on one database. */
export interface ServiceCluster {
  env: Record<string, string>;
  redis: TestRedis;
  /** In the test process: registers agents and reads the database and the queues. It serves nothing. */
  core: Core;
  /** Starts another process. `env` overrides the shared settings. */
  startApi(env?: Record<string, string>): Promise<ServiceProcess>;
  startWorker(env?: Record<string, string>): Promise<ServiceProcess>;
  stop(): Promise<void>;
}

/**
 * The settings, the database and the Redis of a service whose processes the test starts and kills. `overrides` are settings of all
 * processes; if they contain REDIS_URL, no Redis is started.
 */
export async function startServiceCluster(
  backend: Backend,
  overrides: Record<string, string> = {},
): Promise<ServiceCluster> {
  const database = await createTestDatabase();
  const redis = backend === 'redis' && !overrides['REDIS_URL'] ? await startTestRedis() : undefined;
  const env = {
    DATABASE_URL: database.url,
    SECRET_KEY: randomBytes(32).toString('base64'),
    HOST: '127.0.0.1',
    PORT: '0',
    PUBLIC_URL: 'http://localhost:3000',
    RATE_LIMITS: 'off',
    DRAIN_SECONDS: '0',
    LOG_LEVEL: 'info',
    ...(redis && { REDIS_URL: redis.url }),
    ...overrides,
  };
  const core = compose(loadConfig({ ...env, LOG_LEVEL: 'silent' }), 'test');
  const processes: ServiceProcess[] = [];

  async function start(
    part: 'api' | 'worker',
    changes: Record<string, string> = {},
  ): Promise<ServiceProcess> {
    const started = await startProcess(part, { ...env, ...changes }, { program: bundledProgram(part) });
    processes.push(started);
    return started;
  }
  return {
    env,
    core,
    get redis() {
      if (!redis) throw new Error('this cluster has no Redis');
      return redis;
    },
    startApi: (changes) => start('api', changes),
    startWorker: (changes) => start('worker', changes),
    async stop() {
      await Promise.all(processes.map((each) => each.kill9()));
      await core.close();
      await redis?.stop();
      await database.drop();
    },
  };
}

/** A service as `startServiceCluster` starts it. It ends with the test. */
export const startTestCluster = async (
  ...args: Parameters<typeof startServiceCluster>
): Promise<ServiceCluster> => stopAfterTest(await startServiceCluster(...args));

export interface Conversation {
  thread_id: string;
  members: [Member, Member, Member];
}

export interface Member extends TestAgent {
  /** Its feed position before the first message. */
  start: string;
}

/** A thread of three agents, each of its own owner, before its first message. */
export async function startConversation(core: Core, url: string): Promise<Conversation> {
  const [ann, bob, cid] = await Promise.all([buildAgent(core), buildAgent(core), buildAgent(core)]);
  const body = { participants: [bob.handle, cid.handle] };
  const made = await requestRest('POST', `${url}/v1/threads`, { token: ann.token, body });
  if (made.status !== 201) throw new Error(`no thread: ${made.status} ${made.text}`);
  const withStart = async (agent: TestAgent): Promise<Member> => {
    const page = await requestRest('GET', `${url}/v1/events`, { token: agent.token });
    return { ...agent, start: String(page.body.cursor) };
  };
  const members = await Promise.all([withStart(ann), withStart(bob), withStart(cid)]);
  return { thread_id: made.body.id, members };
}
