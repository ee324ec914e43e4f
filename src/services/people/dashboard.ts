import type { SystemWork } from '../../work/unit-of-work.ts';

const maxAgents = 20;

/** What a person should know at a glance, over all agents that the person acts as. */
export type Dashboard = Awaited<ReturnType<typeof readDashboard>>;

/** How many approvals wait, how many clients are connected, and which agents are asked for contact: by handle, twenty at most. */
export async function readDashboard({ dashboard }: Pick<SystemWork, 'dashboard'>, account_id: string) {
  const now = Date.now();
  const [approvals, connections, asked] = await Promise.all([
    dashboard.countApprovals(account_id, now),
    dashboard.countConnections(account_id, now),
    dashboard.listWaitingRequests(account_id, maxAgents),
  ]);
  return { approvals, connections, asked };
}
