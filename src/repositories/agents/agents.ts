import type { AgentScope, InboundPolicy, Visibility, Relation } from '../../domain/agents/agents.ts';
import { isOnline } from './online.ts';
import { type Queryable, statement } from '../queryable.ts';
import { relationOf } from './relations.ts';

export interface AgentRow {
  id: string;
  owner_id: string;
  canonical_handle: string;
  display_name: string;
  description: string;
  scope: AgentScope;
  visibility: Visibility;
  inbound_policy: InboundPolicy;
  card_body: string;
  skills: { name: string; description: string }[];
  can_initiate_threads: boolean;
  paused: boolean;
  created_at: number;
  updated_at: number;
  retired_at: number | null;
  /** Whether it holds a stream or a waiting call just now. */
  is_online: boolean;
}

/** An agent without the body of its card, which can be long. */
export type AgentSummaryRow = Omit<AgentRow, 'card_body'>;

/** Of `agents a`. */
export const summaryColumns = `a.id, a.owner_id, a.canonical_handle, a.display_name, a.description, a.scope, a.visibility,
  a.inbound_policy, a.skills, a.can_initiate_threads, a.paused, a.created_at, a.updated_at, a.retired_at,
  ${isOnline}`;
export const agentColumns = `${summaryColumns}, a.card_body`;

const find = statement(
  'agents.find',
  `select ${agentColumns} from agents a where a.id = $1 and a.retired_at is null`,
);

const isPaused = statement(
  'agents.is_paused',
  `select a.paused from agents a where a.id = $1 and a.retired_at is null`,
);

const findByHandle = statement(
  'agents.find_by_handle',
  `select ${agentColumns} from agents a where a.canonical_handle = $1 and a.retired_at is null`,
);

const findPublic = statement(
  'agents.find_public',
  `select ${agentColumns} from agents a where a.canonical_handle = $1 and a.visibility = 'public' and a.retired_at is null`,
);

const insert = statement(
  'agents.insert',
  `with agent as (
     insert into agents (id, owner_id, member_account_id, canonical_handle, display_name, description, scope, visibility,
       inbound_policy, card_body, skills, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12) returning *
   ), head as (insert into feed_heads (agent_id) select id from agent)
   select ${agentColumns} from agent a`,
);

const update = statement(
  'agents.update',
  `update agents set display_name = $2, description = $3, visibility = $4, inbound_policy = $5, card_body = $6, skills = $7,
     can_initiate_threads = $8, paused = $9, updated_at = $10
   where id = $1`,
);

/** By the index of owners; retired ones, which keep their handle, leave room. */
const count = statement(
  'agents.count',
  'select count(*)::int as count from agents where owner_id = $1 and retired_at is null',
);

const lock = statement(
  'agents.lock',
  `select ${agentColumns} from agents a where a.id = $1 and a.retired_at is null for no key update`,
);

const retire = statement('agents.retire', `update agents set retired_at = $2, updated_at = $2 where id = $1`);

const listPersonal = statement(
  'agents.list_personal',
  `select ${agentColumns} from agents a
   where a.owner_id = $1 and a.scope = 'personal' and a.retired_at is null and a.id > $2 order by a.id limit $3`,
);

/** Everything that decides whether $1 sees an agent and may write to it, in one row for each reference. */
export const seenAgents = (columns: string): string => `select ${columns}, r.*,
   (a.visibility = 'public' or r.self or r.same_owner or r.same_organization or r.contact
     or exists (select from thread_members m join thread_members t using (thread_id)
                where m.agent_id = viewer.id and t.agent_id = a.id)
     or exists (select from contact_requests q where q.from_agent_id = a.id and q.to_agent_id = viewer.id)) as visible
 from agents a
 join agents viewer on viewer.id = $1
 join owners viewer_owner on viewer_owner.id = viewer.owner_id
 cross join lateral (${relationOf}) r
 where (a.id = any($2) or a.canonical_handle = any($2)) and a.retired_at is null`;

const findSeen = statement('agents.find_seen', seenAgents(summaryColumns));

export interface SeenAgentRow extends AgentSummaryRow, Relation {
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
  card_body: string;
  skills: AgentRow['skills'];
  created_at: number;
}

/** What can change of an agent while it lives. */
export type AgentProfile = Pick<
  AgentRow,
  | 'display_name'
  | 'description'
  | 'visibility'
  | 'inbound_policy'
  | 'card_body'
  | 'skills'
  | 'can_initiate_threads'
  | 'paused'
>;

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
    async findPublic(canonicalHandle: string): Promise<AgentRow | undefined> {
      return (await db.query<AgentRow>(findPublic, [canonicalHandle]))[0];
    },
    /** Agents by id or canonical handle, with what relates them to the viewer; hidden ones are marked, not left out. */
    findSeen(viewerId: string, references: readonly string[]): Promise<SeenAgentRow[]> {
      return db.query<SeenAgentRow>(findSeen, [viewerId, references]);
    },
    async insert(agent: NewAgent): Promise<AgentRow | undefined> {
      const { id, owner_id, member_account_id, canonical_handle, display_name, description } = agent;
      const { scope, visibility, inbound_policy, card_body, skills, created_at } = agent;
      const who = [id, owner_id, member_account_id, canonical_handle, display_name, description];
      const how = [scope, visibility, inbound_policy, card_body, JSON.stringify(skills), created_at];
      return (await db.query<AgentRow>(insert, [...who, ...how]))[0];
    },
    /** How many an owner has. */
    async count(ownerId: string): Promise<number> {
      return (await db.query<{ count: number }>(count, [ownerId]))[0]?.count ?? 0;
    },
    /** As find, and holds the agent until the transaction ends: nobody else changes or retires it meanwhile. */
    async lock(id: string): Promise<AgentRow | undefined> {
      return (await db.query<AgentRow>(lock, [id]))[0];
    },
    async update(agent: AgentProfile & { id: string; updated_at: number }): Promise<void> {
      const { id, display_name, description, visibility, inbound_policy, card_body } = agent;
      const { skills, can_initiate_threads, paused, updated_at } = agent;
      const profile = [
        display_name,
        description,
        visibility,
        inbound_policy,
        card_body,
        JSON.stringify(skills),
      ];
      await db.query(update, [id, ...profile, can_initiate_threads, paused, updated_at]);
    },
    async retire(id: string, retiredAt: number): Promise<void> {
      await db.query(retire, [id, retiredAt]);
    },
    /** Personal agents of an account behind `afterId`, by id. */
    listPersonal(ownerId: string, afterId: string, limit: number): Promise<AgentRow[]> {
      return db.query<AgentRow>(listPersonal, [ownerId, afterId, limit]);
    },
  };
}
