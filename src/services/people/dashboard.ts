import type { SystemWork } from '../../work/unit-of-work.ts';

const maxAgents = 20;

/** The overview of all agents as which a person can act. */
export type Dashboard = Awaited<ReturnType<typeof readDashboard>>;

/** Returns the numbers of pending approvals and connected clients, and up to 20 agents with pending contact requests, by handle. */
export async function readDashboard({ dashboard }: Pick<SystemWork, 'dashboard'>, account_id: string) {
  const now = Date.now();
  const [approvals, connections, contact_requests] = await Promise.all([
    dashboard.countApprovals(account_id, now),
    dashboard.countConnections(account_id, now),
    dashboard.listWaitingRequests(account_id, maxAgents),
  ]);
  return { approvals, connections, contact_requests };
}
