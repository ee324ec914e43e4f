import { agentColumns, type AgentRow, type SeenAgentRow } from './agents.ts';
import { repository, sql } from '../sql.ts';
import { seenAgents } from './relations.ts';
import { managedByRole, ownersOf } from './rights.ts';

export interface ViewedAgentRow extends SeenAgentRow, Pick<AgentRow, 'card_body'> {
  managed: boolean;
}

/** The owner of an agent, and the person it acts for, if there is one. */
export interface PrincipalRow {
  scope: AgentRow['scope'];
  owner_id: string;
  owner_name: string;
  /** The account that owns a personal agent, or that a member agent is tied to. */
  person_id: string | null;
  person_name: string | null;
}

/** The person that `me` acts for, or else its organization, which has no memberships. */
const person = 'coalesce(me.member_account_id, me.owner_id)';

/**
 * Whether `me` manages `a`. A personal agent manages what its person manages. A shared agent manages all agents of its organization. A
 * member agent manages agents of its own organization only.
 */
export const manages = `a.retired_at is null
  and a.owner_id in (select me.owner_id union all ${ownersOf(person)})
  and (a.owner_id = me.owner_id and me.scope <> 'member'
    or (me.scope = 'personal' or a.owner_id = me.owner_id) and ${managedByRole(person)})`;

export const managedAgentsRepository = repository({
  /**
   * As agents.findSeen for one reference, and whether the viewer manages it. One statement, so that both parts see the same state of an
   * agent that retires meanwhile.
   */
  findSeen: sql.row<[viewerId: string, reference: string], ViewedAgentRow>(
    'managed_agents.find_seen',
    `select seen.*, exists (select from agents me join agents a on ${manages} where me.id = :viewer_id and a.id = seen.id) as managed
     from (${seenAgents(agentColumns)}) seen`,
    (viewerId, reference) => ({ viewer_id: viewerId, references: [reference] }),
  ),
  /** The agents that `agentId` manages, by id, after `afterId`. */
  list: sql.rows<[agentId: string, afterId: string, limit: number], AgentRow>(
    'managed_agents.list(agent_id, after_id, limit)',
    `select ${agentColumns} from agents me join agents a on ${manages}
     where me.id = :agent_id and a.id > :after_id order by a.id limit :limit`,
  ),
  /** Undefined for a retired agent. */
  findPrincipal: sql.row<[agentId: string], PrincipalRow>(
    'managed_agents.find_principal',
    `select me.scope, me.owner_id, o.name as owner_name, p.id as person_id, p.name as person_name
     from agents me join owners o on o.id = me.owner_id
     left join owners p on p.kind = 'account' and p.id = coalesce(me.member_account_id, me.owner_id)
     where me.id = :agent_id and me.retired_at is null`,
  ),
});
