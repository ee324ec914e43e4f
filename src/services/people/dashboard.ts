import type { FirstStepsRow } from '../../repositories/people/dashboard.ts';
import { listInvitationsOfPerson } from './membership-invitations.ts';
import type { ReadWork } from '../../work/unit-of-work.ts';

/** The apps and invitations of a person. */
export type Dashboard = Awaited<ReturnType<typeof readDashboard>>;

/** Returns the number of connected clients, and the invitations to organizations. */
export async function readDashboard(work: ReadWork, account_id: string) {
  const [connections, invitations] = await Promise.all([
    work.db.dashboard.countConnections(account_id, Date.now()),
    listInvitationsOfPerson(work, { account_id }),
  ]);
  return { connections, invitations };
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
