import { startServiceCluster } from '../../support/cluster/cluster.ts';
import { startHttpBalancer } from '../../support/servers/http-balancer.ts';
import { type AgentOptions, buildAgent, issueTokenFor } from '../../support/service.ts';

/** Two API processes and a worker of one service, and a balancer that alternates between the APIs for each request. Callbacks can go to loopback. */
export async function startA2aCluster() {
  const targets: string[] = [];
  const balancer = await startHttpBalancer(() => targets);
  const cluster = await startServiceCluster('postgres', {
    PUBLIC_URL: balancer.url,
    WEBHOOK_NETWORKS: '127.0.0.0/8',
  });
  const [one, other] = await Promise.all([cluster.startApi(), cluster.startApi(), cluster.startWorker()]);
  targets.push(one.url, other.url);
  return {
    core: cluster.core,
    /** The address of the balancer. */
    url: balancer.url,
    agent: (options?: AgentOptions) => buildAgent(cluster.core, options),
    token: (handle: string, options?: AgentOptions) => issueTokenFor(cluster.core, handle, options),
    /** The base address of an agent. */
    addressOf: ({ handle }: { handle: string }) => `${balancer.url}/a2a/${handle.replace('.', '/')}`,
    async stop() {
      await balancer.close();
      await cluster.stop();
    },
  };
}
