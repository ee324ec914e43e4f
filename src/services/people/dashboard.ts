import type { FirstStepsRow } from '../../repositories/people/dashboard.ts';
import { listInvitationsOfPerson } from './membership-invitations.ts';
import type { ReadWork } from '../../work/unit-of-work.ts';

/** Webhooks that one list shows. */
const maxFailingWebhooks = 200;

/** Returns the webhooks whose receiver fails, of the agents that a person can act as: disabled ones first, at most 200. */
export function listFailingWebhooks({ db }: ReadWork, account_id: string) {
  return db.dashboard.listFailingWebhooks(account_id, maxFailingWebhooks);
}

/** Returns the numbers of connected clients and of failing webhooks, and the invitations to organizations. */
export async function readDashboard(work: ReadWork, account_id: string) {
  const [connections, failing, invitations] = await Promise.all([
    work.db.dashboard.countConnections(account_id, Date.now()),
    listFailingWebhooks(work, account_id),
    listInvitationsOfPerson(work, { account_id }),
  ]);
  return { connections, failing_webhooks: failing.length, invitations };
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
