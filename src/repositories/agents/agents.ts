import type {
  AgentScope,
  InboundPolicy,
  OutgoingPolicy,
  Visibility,
  Relation,
} from '../../../packages/core/src/domain/agents/agents.ts';
import { isOnline } from './presence.ts';
import { statement, query } from '../queryable.ts';
import { repository, sql } from '../sql.ts';
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
  outgoing_policy: OutgoingPolicy;
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
  a.inbound_policy, a.skills, a.can_initiate_threads, a.outgoing_policy, a.paused, a.created_at, a.updated_at, a.retired_at,
  ${isOnline}`;
export const agentColumns = `${summaryColumns}, a.card_body`;

const listRelationVersions = statement(
  'agents.list_relation_versions',
  'select agent_id, relation_version from feed_heads where agent_id = any(:ids::text[])',
);

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

export const agentsRepository = repository(
  {
    /** An agent that is not retired. */
    find: sql.row<[id: string], AgentRow>(
      'agents.find',
      `select ${agentColumns} from agents a where a.id = :id and a.retired_at is null`,
    ),
    /** Undefined when there is no such agent or it is retired. */
    isPaused: sql.value<[id: string], boolean | undefined>(
      'agents.is_paused',
      `select a.paused from agents a where a.id = :id and a.retired_at is null`,
    ),
    findByHandle: sql.row<[canonicalHandle: string], AgentRow>(
      'agents.find_by_handle',
      `select ${agentColumns} from agents a where a.canonical_handle = :canonical_handle and a.retired_at is null`,
    ),
    findPublic: sql.row<[canonicalHandle: string], AgentRow>(
      'agents.find_public',
      `select ${agentColumns} from agents a where a.canonical_handle = :canonical_handle and a.visibility <> 'private' and a.retired_at is null`,
    ),
    /** Agents by id or canonical handle, with their relation to the viewer. Includes hidden agents, with `visible` false. */
    findSeen: sql.rows<[viewerId: string, references: readonly string[]], SeenAgentRow>(
      'agents.find_seen(viewer_id, references)',
      seenAgents(summaryColumns),
    ),
    /** Inserts an agent with its feed counter. */
    insert: sql.row<[agent: NewAgent], AgentRow>(
      'agents.insert',
      `with agent as (
       /* no version: it is in no thread */
       insert into agents (id, owner_id, member_account_id, canonical_handle, display_name, description, scope, visibility,
         inbound_policy, card_body, skills, created_at, updated_at)
       values (:id, :owner_id, :member_account_id, :canonical_handle, :display_name, :description, :scope, :visibility, :inbound_policy, :card_body, :skills, :created_at, :created_at) returning *
     ), counter as (insert into feed_heads (agent_id) select id from agent)
     select ${agentColumns} from agent a`,
      (agent) => ({ ...agent, skills: JSON.stringify(agent.skills) }),
    ),
    /** The number of agents of an owner that are not retired. Retired agents do not count, although they keep their handles. */
    count: sql.value<[ownerId: string], number>(
      'agents.count',
      'select count(*)::int as count from agents where owner_id = :owner_id and retired_at is null',
    ),
    /** As find, and locks the agent until the transaction ends. */
    lock: sql.row<[id: string], AgentRow>(
      'agents.lock',
      `select ${agentColumns} from agents a where a.id = :id and a.retired_at is null for no key update`,
    ),
    update: sql.run<[agent: AgentProfile & { id: string; updated_at: number }]>(
      'agents.update',
      `with before as (select inbound_policy, paused from agents where id = :id)
     update agents a set display_name = :display_name, description = :description, visibility = :visibility, inbound_policy = :inbound_policy, card_body = :card_body, skills = :skills,
       can_initiate_threads = :can_initiate_threads, paused = :paused, updated_at = :updated_at
     from before b where id = :id
     returning case when a.inbound_policy <> b.inbound_policy or a.paused and not b.paused then id end as raised_id`,
      (agent) => ({ ...agent, skills: JSON.stringify(agent.skills) }),
    ),
    setOutgoingPolicy: sql.run<[id: string, outgoing_policy: OutgoingPolicy]>(
      'agents.set_outgoing_policy(id, outgoing_policy)',
      'update agents set outgoing_policy = :outgoing_policy where id = :id returning id as raised_id',
    ),
    retire: sql.run<[id: string, retiredAt: number]>(
      'agents.retire(id, retired_at)',
      `update agents set retired_at = :retired_at, updated_at = :retired_at where id = :id returning id as raised_id`,
    ),
    /** Personal agents of an account, by id, after `afterId`. */
    listPersonal: sql.rows<[ownerId: string, afterId: string, limit: number], AgentRow>(
      'agents.list_personal(owner_id, after_id, limit)',
      `select ${agentColumns} from agents a
     where a.owner_id = :owner_id and a.scope = 'personal' and a.retired_at is null and a.id > :after_id order by a.id limit :limit`,
    ),
  },
  (db) => ({
    /** By id. */
    async listRelationVersions(ids: readonly string[]): Promise<Map<string, number>> {
      type Version = { agent_id: string; relation_version: number };
      const rows = await query<Version>(db, listRelationVersions, { ids });
      return new Map(rows.map(({ agent_id, relation_version }) => [agent_id, relation_version]));
    },
  }),
);
