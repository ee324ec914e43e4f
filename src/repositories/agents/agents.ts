import type {
  AgentScope,
  InboundPolicy,
  Visibility,
  Relation,
} from '../../../packages/core/src/domain/agents/agents.ts';
import { isOnline } from './presence.ts';
import { type Queryable, statement, query } from '../queryable.ts';
import { seenAgents } from './relations.ts';

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
  /** Whether it has a stream or a waiting call. */
  is_online: boolean;
}

/** An agent without the body of its card, which can be large. */
export type AgentSummaryRow = Omit<AgentRow, 'card_body'>;

/** Columns of `agents a`. */
export const summaryColumns = `a.id, a.owner_id, a.canonical_handle, a.display_name, a.description, a.scope, a.visibility,
  a.inbound_policy, a.skills, a.can_initiate_threads, a.paused, a.created_at, a.updated_at, a.retired_at,
  ${isOnline}`;
export const agentColumns = `${summaryColumns}, a.card_body`;

const find = statement(
  'agents.find',
  `select ${agentColumns} from agents a where a.id = :id and a.retired_at is null`,
);

const isPaused = statement(
  'agents.is_paused',
  `select a.paused from agents a where a.id = :id and a.retired_at is null`,
);

const findByHandle = statement(
  'agents.find_by_handle',
  `select ${agentColumns} from agents a where a.canonical_handle = :canonical_handle and a.retired_at is null`,
);

const findPublic = statement(
  'agents.find_public',
  `select ${agentColumns} from agents a where a.canonical_handle = :canonical_handle and a.visibility <> 'private' and a.retired_at is null`,
);

const insert = statement(
  'agents.insert',
  `with agent as (
     /* no version: it is in no thread */
     insert into agents (id, owner_id, member_account_id, canonical_handle, display_name, description, scope, visibility,
       inbound_policy, card_body, skills, created_at, updated_at)
     values (:id, :owner_id, :member_account_id, :canonical_handle, :display_name, :description, :scope, :visibility, :inbound_policy, :card_body, :skills, :created_at, :created_at) returning *
   ), counter as (insert into feed_heads (agent_id) select id from agent)
   select ${agentColumns} from agent a`,
);

const update = statement(
  'agents.update',
  `with before as (select inbound_policy, paused from agents where id = :id)
   update agents a set display_name = :display_name, description = :description, visibility = :visibility, inbound_policy = :inbound_policy, card_body = :card_body, skills = :skills,
     can_initiate_threads = :can_initiate_threads, paused = :paused, updated_at = :updated_at
   from before b where id = :id
   returning case when a.inbound_policy <> b.inbound_policy or a.paused and not b.paused then id end as raised_id`,
);

/** Retired agents do not count, although they keep their handles. */
const count = statement(
  'agents.count',
  'select count(*)::int as count from agents where owner_id = :owner_id and retired_at is null',
);

const lock = statement(
  'agents.lock',
  `select ${agentColumns} from agents a where a.id = :id and a.retired_at is null for no key update`,
);

const retire = statement(
  'agents.retire',
  `update agents set retired_at = :retired_at, updated_at = :retired_at where id = :id returning id as raised_id`,
);

const listPersonal = statement(
  'agents.list_personal',
  `select ${agentColumns} from agents a
   where a.owner_id = :owner_id and a.scope = 'personal' and a.retired_at is null and a.id > :after_id order by a.id limit :limit`,
);

const listRelationVersions = statement(
  'agents.list_relation_versions',
  'select agent_id, relation_version from feed_heads where agent_id = any(:ids)',
);

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

/** The columns that `update` changes. */
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
    /** An agent that is not retired. */
    async find(id: string): Promise<AgentRow | undefined> {
      return (await query<AgentRow>(db, find, { id }))[0];
    },
    /** Undefined when there is no such agent or it is retired. */
    async isPaused(id: string): Promise<boolean | undefined> {
      return (await query<{ paused: boolean }>(db, isPaused, { id }))[0]?.paused;
    },
    async findByHandle(canonicalHandle: string): Promise<AgentRow | undefined> {
      return (await query<AgentRow>(db, findByHandle, { canonical_handle: canonicalHandle }))[0];
    },
    async findPublic(canonicalHandle: string): Promise<AgentRow | undefined> {
      return (await query<AgentRow>(db, findPublic, { canonical_handle: canonicalHandle }))[0];
    },
    /** Agents by id or canonical handle, with their relation to the viewer. Includes hidden agents, with `visible` false. */
    findSeen(viewerId: string, references: readonly string[]): Promise<SeenAgentRow[]> {
      return query<SeenAgentRow>(db, findSeen, { viewer_id: viewerId, references });
    },
    /** By id. */
    async listRelationVersions(ids: readonly string[]): Promise<Map<string, number>> {
      type Version = { agent_id: string; relation_version: number };
      const rows = await query<Version>(db, listRelationVersions, { ids });
      return new Map(rows.map(({ agent_id, relation_version }) => [agent_id, relation_version]));
    },
    /** Inserts an agent with its feed counter. */
    async insert(agent: NewAgent): Promise<AgentRow | undefined> {
      const { id, owner_id, member_account_id, canonical_handle, display_name, description } = agent;
      const { scope, visibility, inbound_policy, card_body, skills, created_at } = agent;
      const identity = { id, owner_id, member_account_id, canonical_handle, scope, created_at };
      const profile = { display_name, description, visibility, inbound_policy, card_body };
      const values = { ...identity, ...profile, skills: JSON.stringify(skills) };
      return (await query<AgentRow>(db, insert, values))[0];
    },
    /** The number of agents of an owner that are not retired. */
    async count(ownerId: string): Promise<number> {
      return (await query<{ count: number }>(db, count, { owner_id: ownerId }))[0]?.count ?? 0;
    },
    /** As find, and locks the agent until the transaction ends. */
    async lock(id: string): Promise<AgentRow | undefined> {
      return (await query<AgentRow>(db, lock, { id }))[0];
    },
    async update(agent: AgentProfile & { id: string; updated_at: number }): Promise<void> {
      const { id, display_name, description, visibility, inbound_policy, card_body } = agent;
      const { skills, can_initiate_threads, paused, updated_at } = agent;
      const profile = { display_name, description, visibility, inbound_policy, card_body };
      const settings = { skills: JSON.stringify(skills), can_initiate_threads, paused };
      await query(db, update, { id, ...profile, ...settings, updated_at });
    },
    async retire(id: string, retiredAt: number): Promise<void> {
      await query(db, retire, { id, retired_at: retiredAt });
    },
    /** Personal agents of an account, by id, after `afterId`. */
    listPersonal(ownerId: string, afterId: string, limit: number): Promise<AgentRow[]> {
      return query<AgentRow>(db, listPersonal, { owner_id: ownerId, after_id: afterId, limit });
    },
  };
}
