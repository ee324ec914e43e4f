import type { Work } from '../../work/unit-of-work.ts';
import { type PageRequest, readPage } from '../paging.ts';

type Agent = Awaited<ReturnType<Work['managedAgents']['list']>>[number];

/** A page of the personal agents of the actor's owner, oldest first; an organization has none. */
export function listPersonalAgents(work: Work, page: PageRequest) {
  const { owner_id } = work.actor;
  return listOldestFirst(work, page, 'list_agents', (after, limit) =>
    work.agents.listPersonal(owner_id, after, limit),
  );
}

/** A page of every agent that the actor can act as, oldest first. */
export function listManagedAgents(work: Work, page: PageRequest) {
  const { agent_id } = work.actor;
  return listOldestFirst(work, page, 'list_managed_agents', (after, limit) =>
    work.managedAgents.list(agent_id, after, limit),
  );
}

async function listOldestFirst(
  work: Work,
  page: PageRequest,
  name: string,
  list: (afterId: string, limit: number) => Promise<Agent[]>,
) {
  const { rows: agents, next_cursor } = await readPage<Agent, [string]>(work, page, {
    binding: [name],
    rows: (after, limit) => list(after?.[0] ?? '', limit),
    position: ({ id }) => [id],
  });
  return { agents, next_cursor };
}
