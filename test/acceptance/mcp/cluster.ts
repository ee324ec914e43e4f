import { system } from '../../../packages/core/src/domain/auth/audit.ts';
import { startProcess } from '../../../scripts/parts/service-process.ts';
import { compose } from '../../../src/compose.ts';
import { loadConfig } from '../../../src/config.ts';
import { createLifecycle } from '../../../src/start/lifecycle.ts';
import {
  type OperatorRegistration,
  registerAgentAsOperator,
} from '../../../src/services/agents/operator-registration.ts';
import { bundledProgram } from '../../support/vitest/bundled-program.ts';
import { startHttpBalancer } from '../../support/servers/http-balancer.ts';
import { type AgentOptions, buildAgent, createTestSettings, issueTokenFor } from '../../support/service.ts';

const processes = 2;

/** Two API processes of one service, and a balancer that alternates between them for each request. */
export async function startMcpCluster(part: 'api' | 'conformance-api' = 'api') {
  const program = bundledProgram(part);
  const settings = await createTestSettings('postgres');
  const targets: string[] = [];
  const balancer = await startHttpBalancer(() => targets);
  const env = { ...settings.env, PUBLIC_URL: balancer.url };
  const core = compose(loadConfig(env), 'test');
  const lifecycle = createLifecycle(core.logger);
  lifecycle.onStop('settings', 20_000, settings.release);
  lifecycle.onStop('core', 5_000, () => core.close());
  const apis = await Promise.all(
    Array.from({ length: processes }, () => startProcess('api', { ...env, LOG_LEVEL: 'info' }, { program })),
  );
  targets.push(...apis.map(({ url }) => url));
  lifecycle.onStop('processes', 20_000, async () => {
    await Promise.all(apis.map((api) => api.terminate()));
  });
  lifecycle.onStop('balancer', 5_000, balancer.close);
  return {
    core,
    /** The address of the balancer. */
    url: balancer.url,
    /** Starts another balancer, which adds these headers to requests that lack them. */
    async by(headers: Record<string, string>) {
      const way = await startHttpBalancer(() => targets, headers);
      lifecycle.onStop('another balancer', 5_000, way.close);
      return way;
    },
    agent: (options?: AgentOptions) => buildAgent(core, options),
    async register(agent: OperatorRegistration, options?: AgentOptions) {
      const { id } = await core.unitOfWork.write(system, (work) => registerAgentAsOperator(work, agent));
      return { id, handle: agent.handle, token: await issueTokenFor(core, agent.handle, options) };
    },
    token: (handle: string, options?: AgentOptions) => issueTokenFor(core, handle, options),
    stop: () => lifecycle.stop('the test is over'),
  };
}

export type McpCluster = Awaited<ReturnType<typeof startMcpCluster>>;
