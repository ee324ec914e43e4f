import { z } from 'zod';
import {
  defaultVisibility,
  type Relation,
  relationshipOf,
} from '../../../../core/src/domain/agents/agents.ts';
import { isName, nameRule, parseHandle } from '../../../../core/src/domain/agents/handles.ts';
import { DomainError, wrongField } from '../../../../core/src/domain/errors.ts';
import {
  getAgentProfileInput,
  ownerOnlyFields,
  registerAgentInput,
  updateAgentInput,
  updateMeInput,
} from '../../../../core/src/inputs/agents.ts';
import { agentReference, pageFields } from '../../../../core/src/inputs/fields.ts';
import { pausedActor } from '../../../../core/src/policies/inbound.ts';
import { type AgentRecord, presentAgent as presentRecord } from '../../../../core/src/records/agent.ts';
import { emit } from '../core/feed.ts';
import { endLeases } from '../core/inbox.ts';
import type { Agent } from '../core/records.ts';
import { type Call, defineHandler, type State } from '../core/state.ts';
import type { AgentProfile } from '../types.ts';
import { readPage } from '../core/pages.ts';

/** The id of an agent, of which the reference is the id or the handle. @throws {DomainError} INVALID_HANDLE */
export function toAgentId(state: State, ref: string): string {
  return /^agt_[^.]*$/.test(ref) ? ref : (state.agentIds.get(parseHandle(ref).canonical) ?? '');
}

export const ownerOf = ({ canonical_handle }: { canonical_handle: string }): string =>
  parseHandle(canonical_handle).owner;

/** How the caller is related to another agent. */
export function relate(me: Agent, other: Agent): Relation {
  return {
    self: me.id === other.id,
    same_owner: ownerOf(me) === ownerOf(other),
    same_organization: false,
    contact: other.contacts.has(me.id),
    allowlisted: other.allowlist.has(me.canonical_handle) || other.allowlist.has(`${ownerOf(me)}.*`),
    blocked_by_them: other.blocks.has(me.id),
    blocked_by_viewer: me.blocks.has(other.id),
  };
}

/** Whether the agents are the same, of one owner, or contacts. */
export const isClose = (me: Agent, other: Agent): boolean => relationshipOf(relate(me, other)) !== 'none';

function isVisible({ state, me }: Call, other: Agent): boolean {
  if (other.is_retired) return false;
  if (other.visibility !== 'private' || isClose(me, other)) return true;
  const shared = [...state.threads.values()].some(({ members }) =>
    [me, other].every((agent) => members.some(({ id }) => id === agent.id)),
  );
  const hasAsked = state.requests.some(
    ({ from_id, to_id, is_announced, status }) =>
      from_id === other.id && to_id === me.id && is_announced && status === 'pending',
  );
  return shared || hasAsked;
}

/** Returns an agent that the caller can see. @throws {DomainError} AGENT_NOT_FOUND, INVALID_HANDLE */
export function requireAgent(call: Call, ref: string): Agent {
  const agent = call.state.agents.get(toAgentId(call.state, ref));
  if (agent && isVisible(call, agent)) return agent;
  throw new DomainError('AGENT_NOT_FOUND', 'No such agent, or it is hidden from you.');
}

/** As requireAgent, but not the caller itself. @throws {DomainError} also VALIDATION_ERROR */
export function requireOtherAgent(call: Call, ref: string): Agent {
  const agent = requireAgent(call, ref);
  if (agent.id !== call.me.id) return agent;
  throw wrongField('handle', 'must not be your own handle');
}

/** @throws {DomainError} AGENT_PAUSED */
export function requireNotPaused({ paused }: Agent): void {
  if (paused) throw pausedActor();
}

export const isOnline = ({ presence }: State, { id }: { id: string }): boolean => (presence.get(id) ?? 0) > 0;

export const presentAgent = (state: State, agent: Agent): AgentRecord =>
  presentRecord({ ...agent, is_online: isOnline(state, agent) });

/** Adds an agent. @throws {DomainError} INVALID_HANDLE, DUPLICATE_HANDLE */
export function addAgent(state: State, handleText: string, profile: Partial<AgentProfile> = {}): Agent {
  const { canonical: canonical_handle, name } = parseHandle(handleText);
  if (state.agentIds.has(canonical_handle)) {
    throw new DomainError('DUPLICATE_HANDLE', `${canonical_handle} is taken. Choose another name.`);
  }
  const time = state.clock.now();
  const agent: Agent = {
    display_name: name,
    description: '',
    visibility: defaultVisibility,
    inbound_policy: 'contacts_only',
    card_body: '',
    skills: [],
    can_initiate_threads: true,
    paused: false,
    ...profile,
    scope: 'personal',
    id: state.newId('agent'),
    canonical_handle,
    created_at: time,
    updated_at: time,
    is_retired: false,
    outgoing_policy: 'free',
    contacts: new Map(),
    blocks: new Map(),
    allowlist: new Map(),
    feed: { events: [], removed: 0, acknowledged: null, listeners: new Set() },
    inbox: null,
    has_deleted_inbox: false,
    leases: new Map(),
    last_fencing_token: 0,
    webhooks: new Map(),
  };
  state.agents.set(agent.id, agent);
  state.agentIds.set(canonical_handle, agent.id);
  addToSameOwner(state, agent);
  return agent;
}

/** Makes a new agent a contact of the other agents of its owner, which are told. */
function addToSameOwner(state: State, agent: Agent): void {
  const { id: agent_id, canonical_handle, display_name, created_at: since } = agent;
  const others = [...state.agents.values()].filter((other) => other !== agent && isOwned(agent, other));
  for (const other of others) {
    other.contacts.set(agent_id, { since, favorite: false });
    agent.contacts.set(other.id, { since, favorite: false });
  }
  const data = { agent_id, canonical_handle, display_name, favorite: false, same_owner: true, since };
  emit(state, { type: 'contact.added', recipients: others.map(({ id }) => id), data });
}

const isOwned = (me: Agent, agent: Agent): boolean => !agent.is_retired && ownerOf(agent) === ownerOf(me);

type Changes = { [Name in keyof AgentProfile]?: AgentProfile[Name] | undefined };

/** Changes an agent and emits what the service emits. */
function changeAgent({ state, me }: Call, agent: Agent, changes: Changes): AgentRecord {
  const before = JSON.stringify(presentAgent(state, agent));
  const name = agent.display_name;
  if (changes.paused && !agent.paused) endLeases(state, agent);
  Object.assign(agent, changes);
  if (JSON.stringify(presentAgent(state, agent)) === before) return presentAgent(state, agent);
  agent.updated_at = Math.max(agent.updated_at + 1, state.clock.now());
  const data = presentAgent(state, agent);
  emit(state, { type: 'agent.updated', recipients: [agent.id, me.id], data });
  if (agent.display_name !== name) {
    const { id: agent_id, canonical_handle, display_name } = agent;
    const contact = { agent_id, canonical_handle, display_name };
    emit(state, { type: 'contact.updated', recipients: agent.contacts.keys(), data: contact });
  }
  return data;
}

const refInput = z.strictObject({ agent_ref: agentReference });

export const agentHandlers = {
  get_me: defineHandler(z.strictObject({}), ({ state, me }) => presentAgent(state, me)),
  update_me: defineHandler(updateMeInput, (call, changes) => {
    const forbidden = ownerOnlyFields.find((field) => field in changes);
    if (forbidden === undefined) return changeAgent(call, call.me, changes as Changes);
    const message = `Only your owner can change ${forbidden}, with PATCH /agents/{agent_id}.`;
    throw new DomainError('FORBIDDEN', message);
  }),
  update_agent: defineHandler(updateAgentInput, (call, { agent_ref, ...changes }) => {
    const agent = requireAgent(call, agent_ref);
    if (isOwned(call.me, agent)) return changeAgent(call, agent, changes);
    throw new DomainError('FORBIDDEN', 'You do not manage this agent.');
  }),
  register_agent: defineHandler(
    registerAgentInput,
    ({ state, me }, { name, scope, organization, ...profile }) => {
      if (organization !== undefined || (scope !== undefined && scope !== 'personal'))
        throw new DomainError('NOT_FOUND', 'The fake service has no organizations.');
      if (!isName(name.toLowerCase())) throw wrongField('name', nameRule);
      return presentAgent(state, addAgent(state, `${ownerOf(me)}.${name}`, profile));
    },
  ),
  list_agents: defineHandler(z.strictObject(pageFields(100, 50)), (call, input) => {
    const owned = () => [...call.state.agents.values()].filter((one) => isOwned(call.me, one));
    const { rows, next_cursor } = readPage(call, input, ['agents'], owned);
    return { agents: rows.map((agent) => presentAgent(call.state, agent)), next_cursor };
  }),
  get_agent: defineHandler(refInput, (call, { agent_ref }) =>
    presentAgent(call.state, requireAgent(call, agent_ref)),
  ),
  get_agent_profile: defineHandler(getAgentProfileInput, (call, { owner, agent_name }) => {
    const agent = requireAgent(call, `${owner}.${agent_name}`);
    const relationship = relationshipOf(relate(call.me, agent));
    return { agent: presentAgent(call.state, agent), viewer: { relationship } };
  }),
};
