import type { AgentRow } from '../agents/agents.ts';
import { isOnline } from '../agents/presence.ts';
import { query, statement } from '../queryable.ts';
import { repository, sql } from '../sql.ts';
import { actedAsByPerson, managedByPerson } from '../agents/rights.ts';

/** An agent as a person who manages it sees it. */
export interface PersonAgentRow extends Pick<
  AgentRow,
  'id' | 'owner_id' | 'canonical_handle' | 'display_name' | 'scope' | 'visibility' | 'paused' | 'is_online'
> {
  owner_name: string;
  /** The person linked with a member agent. */
  member_name: string | null;
  /** Whether this person has left the organization. */
  member_has_left: boolean;
  /** Whether the person may also act as it. */
  acts_as: boolean;
}

const columns = `a.id, a.owner_id, a.canonical_handle, a.display_name, a.scope, a.visibility, a.paused,
  w.name as owner_name, p.name as member_name, p.id is not null and not exists (
    select from organization_members m where m.organization_id = a.owner_id and m.account_id = p.id) as member_has_left,
  ${actedAsByPerson(':account_id')} as acts_as, ${isOnline}`;

const joined = `agents a join owners w on w.id = a.owner_id left join owners p on p.id = a.member_account_id`;

/** Own agents first, then those of organizations, each by handle; after the handle :after in that order. */
const page = `(:after = '' or (a.owner_id <> :account_id, a.canonical_handle)
    > (split_part(:after, '.', 1) <> (select o.name from owners o where o.id = :account_id), :after))
  order by a.owner_id <> :account_id, a.canonical_handle limit :limit`;

const statements = {
  list: statement(
    'person_agents.list',
    `select ${columns} from ${joined} where ${managedByPerson(':account_id')} and ${page}`,
  ),
  listActedAs: statement(
    'person_agents.list_acted_as',
    `select ${columns} from ${joined} where ${actedAsByPerson(':account_id')} and ${page}`,
  ),
};

export const personAgentsRepository = repository(
  {
    /** The agent, if the person manages it. */
    find: sql.row<[accountId: string, agentId: string], PersonAgentRow>(
      'person_agents.find(account_id, agent_id)',
      `select ${columns} from ${joined} where ${managedByPerson(':account_id')} and a.id = :agent_id`,
    ),
  },
  (db) => ({
    /** Agents that the person manages, or acts as, after a handle: own agents first, then by handle. */
    list(
      accountId: string,
      { right, after, limit }: { right: 'manages' | 'acts_as'; after: string; limit: number },
    ): Promise<PersonAgentRow[]> {
      const selection = right === 'manages' ? statements.list : statements.listActedAs;
      return query<PersonAgentRow>(db, selection, { account_id: accountId, after, limit });
    },
  }),
);
