import { system } from '../../../packages/core/src/domain/auth/audit.ts';
import { startApi } from '../../../src/api.ts';
import { compose } from '../../../src/compose.ts';
import { loadConfig } from '../../../src/config.ts';
import { createLifecycle, type Lifecycle } from '../../../src/start/lifecycle.ts';
import { registerAgentAsOperator } from '../../../src/services/agents/operator-registration.ts';
import { findFreePort } from '../../support/free-port.ts';
import { buildAgent, createTestSettings, issueTokenFor } from '../../support/service.ts';

/** A service at a fixed address, whose API can be stopped for a while. */
export async function startRestartableService() {
  const settings = await createTestSettings('postgres');
  const port = await findFreePort();
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
    register: (handle: string) =>
      core.unitOfWork.write(system, (work) => registerAgentAsOperator(work, { handle })),
    token: (handle: string) => issueTokenFor(core, handle, { audience: 'mcp' }),
    query: (text: string, values: readonly unknown[]) => core.database.query({ text }, values),
    async close() {
      await stop();
      await core.close();
      await settings.release();
    },
  };
}

export type RestartableService = Awaited<ReturnType<typeof startRestartableService>>;
