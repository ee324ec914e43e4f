import { startApi } from '../../../src/api.ts';
import { compose } from '../../../src/compose.ts';
import { loadConfig } from '../../../src/config.ts';
import { createLifecycle, type Lifecycle } from '../../../src/platform/lifecycle.ts';
import { registerAgent } from '../../../src/services/agents-admin.ts';
import { freePort } from '../../support/free-port.ts';
import { buildAgent, testSettings, tokenFor } from '../../support/service.ts';

/** A service at its own address, whose API can be away for a while. */
export async function startRestartable() {
  const settings = await testSettings('postgres');
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const env = { ...settings.env, PORT: String(port), PUBLIC_URL: url };
  const core = compose(loadConfig({ ...env, LOG_LEVEL: 'silent' }), 'test');
  let running: Lifecycle | undefined;

  async function start(): Promise<void> {
    const api = compose(loadConfig(env), 'test');
    running = createLifecycle(api.logger);
    await startApi(api, running);
  }
  async function stop(): Promise<void> {
    await running?.stop('the test wants it away');
    running = undefined;
  }

  await start();
  return {
    url,
    env,
    start,
    stop,
    agent: () => buildAgent(core),
    register: (handle: string) => core.unitOfWork.administer((work) => registerAgent(work, { handle })),
    token: (handle: string) => tokenFor(core, handle, { door: 'mcp' }),
    query: (text: string, values: readonly unknown[]) => core.database.query({ text }, values),
    async close() {
      await stop();
      await core.close();
      await settings.release();
    },
  };
}

export type Restartable = Awaited<ReturnType<typeof startRestartable>>;
