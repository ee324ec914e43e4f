import type { AgentRow } from '../agents/agents.ts';
import { isOnline } from '../agents/presence.ts';
import { type Queryable, statement } from '../queryable.ts';
import { actedAsByPerson, managedByPerson } from '../agents/rights.ts';

/** An agent as a person who manages it sees it. */
export interface PersonAgentRow extends Pick<
  AgentRow,
  'id' | 'owner_id' | 'canonical_handle' | 'display_name' | 'scope' | 'visibility' | 'paused' | 'is_online'
> {
  owner_name: string;
  /** The person linked with a member agent. */
  member_name: string | null;
  /** Whether the person may also act as it. */
  acts_as: boolean;
}

const columns = `a.id, a.owner_id, a.canonical_handle, a.display_name, a.scope, a.visibility, a.paused,
  w.name as owner_name, p.name as member_name, ${actedAsByPerson('$1')} as acts_as, ${isOnline}`;

const joined = `agents a join owners w on w.id = a.owner_id left join owners p on p.id = a.member_account_id`;

/** Own agents first, then those of organizations, each by handle; after the handle $2 in that order. */
const page = `($2 = '' or (a.owner_id <> $1, a.canonical_handle)
    > (split_part($2, '.', 1) <> (select o.name from owners o where o.id = $1), $2))
  order by a.owner_id <> $1, a.canonical_handle limit $3`;

const statements = {
  find: statement(
    'person_agents.find',
    `select ${columns} from ${joined} where ${managedByPerson('$1')} and a.id = $2`,
  ),
  list: statement(
    'person_agents.list',
    `select ${columns} from ${joined} where ${managedByPerson('$1')} and ${page}`,
  ),
  listActedAs: statement(
    'person_agents.list_acted_as',
    `select ${columns} from ${joined} where ${actedAsByPerson('$1')} and ${page}`,
  ),
};

export function personAgentsRepository(db: Queryable) {
  return {
    /** The agent, if the person manages it. */
    async find(accountId: string, agentId: string): Promise<PersonAgentRow | undefined> {
      return (await db.query<PersonAgentRow>(statements.find, [accountId, agentId]))[0];
    },
    /** Agents that the person manages, or acts as, after a handle: own agents first, then by handle. */
    list(
      accountId: string,
      { right, after, limit }: { right: 'manages' | 'acts_as'; after: string; limit: number },
    ): Promise<PersonAgentRow[]> {
      const sql = right === 'manages' ? statements.list : statements.listActedAs;
      return db.query<PersonAgentRow>(sql, [accountId, after, limit]);
    },
  };
}
