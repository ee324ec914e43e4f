import type { FirstStepsRow } from '../../repositories/people/dashboard.ts';
import { listInvitationsOfPerson } from './membership-invitations.ts';
import type { ReadWork } from '../../work/unit-of-work.ts';

const maxAgents = 20;

/** The overview of all agents as which a person can act. */
export type Dashboard = Awaited<ReturnType<typeof readDashboard>>;

/**
 * Returns the numbers of pending approvals and connected clients, up to 20 agents with pending contact requests, by handle, and the
 * invitations to organizations.
 */
export async function readDashboard(work: ReadWork, account_id: string) {
  const { dashboard } = work.db;
  const now = Date.now();
  const [approvals, connections, contact_requests, invitations] = await Promise.all([
    dashboard.countApprovals(account_id, now),
    dashboard.countConnections(account_id, now),
    dashboard.listWaitingRequests(account_id, maxAgents),
    listInvitationsOfPerson(work, { account_id }),
  ]);
  return { approvals, connections, contact_requests, invitations };
}
export type FirstSteps = FirstStepsRow;

/** Returns which of the first steps a person has taken: an agent, a connected program, a message. */
export function readFirstSteps({ db: { dashboard } }: ReadWork, account_id: string) {
  return dashboard.findFirstSteps(account_id);
}

/** Returns the number of pending approvals of a person. */
export function countOpenApprovals({ db: { dashboard } }: ReadWork, account_id: string): Promise<number> {
  return dashboard.countApprovals(account_id, Date.now());
}
