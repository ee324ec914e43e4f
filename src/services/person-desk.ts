import type { Administration } from '../unit-of-work.ts';

const mostAgents = 20;

/** What waits for a person to decide it, over all agents that the person acts as. */
export type Desk = Awaited<ReturnType<typeof deskOf>>;

/** How many approvals wait, and which agents are asked for contact: by handle, twenty of them at most. */
export async function deskOf({ personDesk }: Pick<Administration, 'personDesk'>, account_id: string) {
  const [approvals, asked] = await Promise.all([
    personDesk.countApprovals(account_id, Date.now()),
    personDesk.listWaitingRequests(account_id, mostAgents),
  ]);
  return { approvals, asked };
}
