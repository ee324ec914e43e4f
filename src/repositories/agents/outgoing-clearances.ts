import type { Outsider } from '../../../packages/core/src/domain/agents/agents.ts';
import { repository, sql } from '../sql.ts';

/** The agents for which an agent needs no review of what it sends. An empty thread stands for all threads. */
export const outgoingClearancesRepository = repository({
  /**
   * Those of these agents that have another owner than the agent, or are of another system, and are not retired, with their clearances;
   * cleared in this thread.
   */
  listOutsiders: sql.rows<[agentId: string, counterpartIds: readonly string[], threadId: string], Outsider>(
    'outgoing_clearances.list_outsiders(agent_id, counterpart_ids, thread_id)',
    `select a.id, a.canonical_handle,
       exists (select from outgoing_clearances c where c.agent_id = me.id and c.counterpart_id = a.id and c.thread_id = '') as trusted,
       exists (select from outgoing_clearances c where c.agent_id = me.id and c.counterpart_id = a.id and c.thread_id = :thread_id and :thread_id <> '') as cleared
     from agents me join agents a on a.id = any(:counterpart_ids::text[]) and (a.owner_id <> me.owner_id or a.scope = 'remote') and a.retired_at is null
     where me.id = :agent_id order by a.canonical_handle`,
  ),
  insert: sql.run<[clearance: { agent_id: string; ids: readonly string[]; thread_id: string; now: number }]>(
    'outgoing_clearances.insert',
    `insert into outgoing_clearances (agent_id, counterpart_id, thread_id, created_at)
     select :agent_id, counterpart.id, :thread_id, :now from unnest(:ids::text[]) counterpart (id) on conflict do nothing`,
  ),
  /** Trust in an agent, in all threads. */
  listTrusted: sql.rows<[agentId: string], { id: string; canonical_handle: string }>(
    'outgoing_clearances.list_trusted',
    `select a.id, a.canonical_handle from outgoing_clearances c join agents a on a.id = c.counterpart_id
     where c.agent_id = :agent_id and c.thread_id = '' order by a.canonical_handle`,
  ),
  removeTrust: sql.run<[agentId: string, counterpartId: string]>(
    'outgoing_clearances.remove_trust(agent_id, counterpart_id)',
    `delete from outgoing_clearances where agent_id = :agent_id and counterpart_id = :counterpart_id and thread_id = ''`,
  ),
  /** Those of single threads. Trust stays. */
  removeOfThreads: sql.run<[agentId: string]>(
    'outgoing_clearances.remove_of_threads',
    `delete from outgoing_clearances where agent_id = :agent_id and thread_id <> ''`,
  ),
});
