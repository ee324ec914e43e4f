import type { AgentRow } from '../../repositories/agents/agents.ts';
import type { Work } from '../../work/unit-of-work.ts';
import { type PageRequest, readPage } from '../paging.ts';

/** Returns a page of the personal agents of the actor's owner, oldest first; empty if the owner is an organization. */
export function listPersonalAgents(work: Work, page: PageRequest) {
  const { owner_id } = work.actor;
  return listOldestFirst(work, page, 'list_agents', (after, limit) =>
    work.db.agents.listPersonal(owner_id, after, limit),
  );
}

/** Returns a page of the agents that the actor manages, oldest first. */
export function listManagedAgents(work: Work, page: PageRequest) {
  const { agent_id } = work.actor;
  return listOldestFirst(work, page, 'list_managed_agents', (after, limit) =>
    work.db.managedAgents.list(agent_id, after, limit),
  );
}

async function listOldestFirst(
  work: Work,
  page: PageRequest,
  name: string,
  list: (afterId: string, limit: number) => Promise<AgentRow[]>,
) {
  return readPage<AgentRow, [string]>(work, page, {
    binding: [name],
    rows: (after, limit) => list(after?.[0] ?? '', limit),
    position: ({ id }) => [id],
  });
}
