import type { Administration } from '../unit-of-work.ts';

const mostAgents = 20;

/** What a person should know at a glance, over all agents that the person acts as. */
export type Desk = Awaited<ReturnType<typeof deskOf>>;

/** How many approvals wait, how many clients are connected, and which agents are asked for contact: by handle, twenty at most. */
export async function deskOf({ personDesk }: Pick<Administration, 'personDesk'>, account_id: string) {
  const now = Date.now();
  const [approvals, connections, asked] = await Promise.all([
    personDesk.countApprovals(account_id, now),
    personDesk.countConnections(account_id, now),
    personDesk.listWaitingRequests(account_id, mostAgents),
  ]);
  return { approvals, connections, asked };
}
