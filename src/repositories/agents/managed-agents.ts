import { type AgentRow, agentColumns, seenAgents, type SeenAgentRow } from './agents.ts';
import { type Queryable, statement } from '../queryable.ts';
import { managedByRole, ownersOf } from './rights.ts';

export interface ViewedAgentRow extends SeenAgentRow, Pick<AgentRow, 'card_body'> {
  managed: boolean;
}

/** Whom an agent acts for: its owner, and the person behind it, if there is one. */
export interface PrincipalRow {
  scope: AgentRow['scope'];
  owner_id: string;
  owner_name: string;
  /** The account that owns a personal agent, or that a member agent is tied to. */
  person_id: string | null;
  person_name: string | null;
}

/** The person behind `me`, if there is one; else its organization, which is a member of none. */
const person = 'coalesce(me.member_account_id, me.owner_id)';

/**
 * Whether `me` manages `a` (contract, section 3: "every agent the caller can act as"). A person's agent manages what that person
 * manages. A shared agent manages all of its organization's. A member agent reaches its own organization only.
 */
const manages = `a.retired_at is null
  and a.owner_id in (select me.owner_id union all ${ownersOf(person)})
  and (a.owner_id = me.owner_id and me.scope <> 'member'
    or (me.scope = 'personal' or a.owner_id = me.owner_id) and ${managedByRole(person)})`;

const statements = {
  /** In one statement: an agent that retires meanwhile is there in both respects, or in none. */
  findSeen: statement(
    'managed_agents.find_seen',
    `select seen.*, exists (select from agents me join agents a on ${manages} where me.id = $1 and a.id = seen.id) as managed
     from (${seenAgents(agentColumns)}) seen`,
  ),
  list: statement(
    'managed_agents.list',
    `select ${agentColumns} from agents me join agents a on ${manages}
     where me.id = $1 and a.id > $2 order by a.id limit $3`,
  ),
  findPrincipal: statement(
    'managed_agents.find_standing',
    `select me.scope, me.owner_id, o.name as owner_name, p.id as person_id, p.name as person_name
     from agents me join owners o on o.id = me.owner_id
     left join owners p on p.kind = 'account' and p.id = coalesce(me.member_account_id, me.owner_id)
     where me.id = $1 and me.retired_at is null`,
  ),
};

export function managedAgentsRepository(db: Queryable) {
  return {
    /** As agents.findSeen for one reference, and whether the viewer manages it. */
    async findSeen(viewerId: string, reference: string): Promise<ViewedAgentRow | undefined> {
      return (await db.query<ViewedAgentRow>(statements.findSeen, [viewerId, [reference]]))[0];
    },
    /** Every agent that `agentId` manages, behind `afterId`, by id. */
    list(agentId: string, afterId: string, limit: number): Promise<AgentRow[]> {
      return db.query<AgentRow>(statements.list, [agentId, afterId, limit]);
    },
    async findPrincipal(agentId: string): Promise<PrincipalRow | undefined> {
      return (await db.query<PrincipalRow>(statements.findPrincipal, [agentId]))[0];
    },
  };
}
