import type { Relation } from '../domain/relations.ts';
import { type Queryable, statement } from './queryable.ts';
import { relationOf } from './relations.ts';

export interface AgentRow {
  id: string;
  owner_id: string;
  canonical_handle: string;
  display_name: string;
  description: string;
  scope: 'personal' | 'member' | 'shared';
  visibility: 'private' | 'public';
  inbound_policy: 'contacts_only' | 'trusted_only' | 'allowlist' | 'open';
  card_body: string;
  skills: { name: string; description: string }[];
  can_initiate_threads: boolean;
  paused: boolean;
  created_at: number;
  updated_at: number;
  retired_at: number | null;
}

const columns = `a.id, a.owner_id, a.canonical_handle, a.display_name, a.description, a.scope, a.visibility, a.inbound_policy,
  a.card_body, a.skills, a.can_initiate_threads, a.paused, a.created_at, a.updated_at, a.retired_at`;

const find = statement(
  'agents.find',
  `select ${columns} from agents a where a.id = $1 and a.retired_at is null`,
);

const isPaused = statement(
  'agents.is_paused',
  `select a.paused from agents a where a.id = $1 and a.retired_at is null`,
);

const findByHandle = statement(
  'agents.find_by_handle',
  `select ${columns} from agents a where a.canonical_handle = $1 and a.retired_at is null`,
);

const insert = statement(
  'agents.insert',
  `with agent as (
     insert into agents (id, owner_id, member_account_id, canonical_handle, display_name, description, scope, visibility,
       inbound_policy, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10) returning *
   ), head as (insert into feed_heads (agent_id) select id from agent)
   select ${columns} from agent a`,
);

/** Everything that decides whether $1 sees an agent and may write to it, in one row for each reference. */
const findSeen = statement(
  'agents.find_seen',
  `select ${columns}, r.*,
     (a.visibility = 'public' or r.self or r.same_owner or r.same_organization or r.contact
       or exists (select from thread_members m join thread_members t using (thread_id)
                  where m.agent_id = viewer.id and t.agent_id = a.id)
       or exists (select from contact_requests q where q.from_agent_id = a.id and q.to_agent_id = viewer.id)) as visible
   from agents a
   join agents viewer on viewer.id = $1
   join owners viewer_owner on viewer_owner.id = viewer.owner_id
   cross join lateral (${relationOf}) r
   where (a.id = any($2) or a.canonical_handle = any($2)) and a.retired_at is null`,
);

export interface SeenAgentRow extends AgentRow, Relation {
  visible: boolean;
}

export interface NewAgent {
  id: string;
  owner_id: string;
  member_account_id: string | null;
  canonical_handle: string;
  display_name: string;
  description: string;
  scope: AgentRow['scope'];
  visibility: AgentRow['visibility'];
  inbound_policy: AgentRow['inbound_policy'];
  created_at: number;
}

export function agentsRepository(db: Queryable) {
  return {
    async find(id: string): Promise<AgentRow | undefined> {
      return (await db.query<AgentRow>(find, [id]))[0];
    },
    /** Undefined when there is no such agent, or no longer. */
    async isPaused(id: string): Promise<boolean | undefined> {
      return (await db.query<{ paused: boolean }>(isPaused, [id]))[0]?.paused;
    },
    async findByHandle(canonicalHandle: string): Promise<AgentRow | undefined> {
      return (await db.query<AgentRow>(findByHandle, [canonicalHandle]))[0];
    },
    /** Agents by id or canonical handle, with what relates them to the viewer; hidden ones are marked, not left out. */
    findSeen(viewerId: string, references: readonly string[]): Promise<SeenAgentRow[]> {
      return db.query<SeenAgentRow>(findSeen, [viewerId, references]);
    },
    async insert(agent: NewAgent): Promise<AgentRow | undefined> {
      const { id, owner_id, member_account_id, canonical_handle, display_name, description } = agent;
      const { scope, visibility, inbound_policy, created_at } = agent;
      const who = [id, owner_id, member_account_id, canonical_handle, display_name, description];
      return (await db.query<AgentRow>(insert, [...who, scope, visibility, inbound_policy, created_at]))[0];
    },
  };
}
