import { readPage, type PageInput } from './pages.ts';
import type { Agent, AgentProfile } from '../core/records.ts';
import { ServiceError, wrongField } from '../core/service-error.ts';
import type { Call, Handler, State } from '../core/state.ts';
import { emit } from '../core/feed.ts';
import { endLeases } from '../core/inbox.ts';

const part = '[a-z0-9](?:[a-z0-9_-]{0,30}[a-z0-9])?';
const handlePattern = new RegExp(`^${part}\\.${part}$`);

/** @throws {ServiceError} INVALID_HANDLE */
export function parseHandle(value: string): string {
  const handle = value.trim().replace(/^@/, '').toLowerCase();
  if (handlePattern.test(handle)) return handle;
  const message = `Invalid handle: ${value.slice(0, 80)}. A handle has the form owner.agent_name.`;
  throw new ServiceError('INVALID_HANDLE', message);
}

/** The id of an agent, of which the reference is the id or the handle. @throws {ServiceError} INVALID_HANDLE */
export function toAgentId(state: State, ref: string): string {
  if (/^agt_[^.]*$/.test(ref)) return ref;
  return state.agentIds.get(parseHandle(ref)) ?? '';
}

export const ownerOf = ({ canonical_handle }: { canonical_handle: string }): string =>
  canonical_handle.split('.')[0] ?? '';

/** How two agents are related. */
export function relate(me: Agent, other: Agent) {
  return {
    self: me.id === other.id,
    same_owner: ownerOf(me) === ownerOf(other),
    contact: other.contacts.has(me.id),
    allowlisted: other.allowlist.has(me.canonical_handle) || other.allowlist.has(`${ownerOf(me)}.*`),
    blocked_by_them: other.blocks.has(me.id),
    blocked_by_me: me.blocks.has(other.id),
  };
}

/** The closest relationship of an agent to the caller. */
export function relationshipOf(me: Agent, other: Agent): string {
  const { self, same_owner, contact } = relate(me, other);
  if (self) return 'self';
  if (same_owner) return 'same_owner';
  return contact ? 'contact' : 'none';
}

function isVisible({ state, me }: Call, other: Agent): boolean {
  if (other.is_retired) return false;
  const { self, same_owner, contact } = relate(me, other);
  if (other.visibility !== 'private' || self || same_owner || contact) return true;
  const isMember = (agent: Agent, members: readonly { id: string }[]) =>
    members.some(({ id }) => id === agent.id);
  const shared = [...state.threads.values()].some(
    ({ members }) => isMember(me, members) && isMember(other, members),
  );
  const hasAsked = state.requests.some(
    ({ from_id, to_id, is_announced, status }) =>
      from_id === other.id && to_id === me.id && is_announced && status === 'pending',
  );
  return shared || hasAsked;
}

/** Returns an agent that the caller can see. @throws {ServiceError} AGENT_NOT_FOUND, INVALID_HANDLE */
export function requireAgent(call: Call, ref: string): Agent {
  const agent = call.state.agents.get(toAgentId(call.state, ref));
  if (agent && isVisible(call, agent)) return agent;
  throw new ServiceError('AGENT_NOT_FOUND', 'No such agent, or it is hidden from you.');
}

/** As requireAgent, but not the caller itself. @throws {ServiceError} also VALIDATION_ERROR */
export function requireOtherAgent(call: Call, ref: string): Agent {
  const agent = requireAgent(call, ref);
  if (agent.id !== call.me.id) return agent;
  throw wrongField('handle', 'must not be your own handle');
}

/** @throws {ServiceError} AGENT_PAUSED */
export function requireNotPaused(me: Agent): void {
  if (!me.paused) return;
  const message = 'Your owner has paused this agent; retry after it is resumed.';
  throw new ServiceError('AGENT_PAUSED', message, { retry_after: 60 });
}

/** The summary of an agent, or with the body of its card. */
export function presentAgent(state: State, agent: Agent, { withCard = true } = {}): object {
  const { id, canonical_handle, display_name, description, visibility, inbound_policy } = agent;
  const { created_at, updated_at, skills, can_initiate_threads, paused, card_body } = agent;
  const identity = { id, canonical_handle, display_name, description, scope: 'personal', visibility };
  const is_online = (state.presence.get(id) ?? 0) > 0;
  const record = {
    ...identity,
    inbound_policy,
    created_at,
    updated_at,
    skills,
    can_initiate_threads,
    paused,
  };
  return { ...record, is_online, ...(withCard && { card_body }) };
}

const defaultProfile: AgentProfile = {
  display_name: '',
  description: '',
  visibility: 'unlisted',
  inbound_policy: 'contacts_only',
  card_body: '',
  skills: [],
  can_initiate_threads: true,
  paused: false,
};

/** Adds an agent. @throws {ServiceError} INVALID_HANDLE, DUPLICATE_HANDLE */
export function addAgent(state: State, name: string, profile: Partial<AgentProfile> = {}): Agent {
  const canonical_handle = parseHandle(name);
  if (state.agentIds.has(canonical_handle)) {
    throw new ServiceError('DUPLICATE_HANDLE', `${canonical_handle} is taken. Choose another name.`);
  }
  const time = state.clock.now();
  const agent: Agent = {
    ...defaultProfile,
    display_name: canonical_handle.split('.')[1] ?? '',
    ...profile,
    id: state.newId('agt'),
    canonical_handle,
    created_at: time,
    updated_at: time,
    is_retired: false,
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
  const others = [...state.agents.values()].filter(
    (other) => other.id !== agent_id && !other.is_retired && ownerOf(other) === ownerOf(agent),
  );
  for (const other of others) {
    other.contacts.set(agent_id, { since, favorite: false });
    agent.contacts.set(other.id, { since, favorite: false });
  }
  const data = { agent_id, canonical_handle, display_name, favorite: false, same_owner: true, since };
  emit(state, { type: 'contact.added', recipients: others.map(({ id }) => id), data });
}

/** Changes an agent and emits what the service emits. */
function changeAgent({ state, me }: Call, agent: Agent, changes: Partial<AgentProfile>): Agent {
  const before = JSON.stringify(presentAgent(state, agent));
  const name = agent.display_name;
  if (changes.paused && !agent.paused) endLeases(agent, state.clock.now());
  Object.assign(agent, changes);
  if (JSON.stringify(presentAgent(state, agent)) === before) return agent;
  agent.updated_at = Math.max(agent.updated_at + 1, state.clock.now());
  const { is_online: _online, ...data } = presentAgent(state, agent) as { is_online: boolean };
  emit(state, { type: 'agent.updated', recipients: [agent.id, me.id], data });
  if (agent.display_name !== name) {
    const { id: agent_id, canonical_handle, display_name } = agent;
    const contact = { agent_id, canonical_handle, display_name };
    emit(state, { type: 'contact.updated', recipients: agent.contacts.keys(), data: contact });
  }
  return agent;
}

/** @throws {ServiceError} VALIDATION_ERROR when an update changes nothing, or the card is too long */
function requireChanges(changes: object): void {
  if (Object.keys(changes).length === 0) throw wrongField('', 'must have at least one field to change');
  const { card_body = '' } = changes as { card_body?: string };
  if (Buffer.byteLength(card_body) > 32_768)
    throw wrongField('card_body', 'must be at most 32768 bytes of UTF-8');
}

const ownerOnlyFields = ['inbound_policy', 'visibility', 'paused', 'can_initiate_threads'];

export const agentHandlers = {
  get_me: ({ state, me }: Call) => presentAgent(state, me),
  update_me(call: Call, changes: Partial<AgentProfile>) {
    requireChanges(changes);
    const forbidden = ownerOnlyFields.find((field) => field in changes);
    if (forbidden === undefined) return presentAgent(call.state, changeAgent(call, call.me, changes));
    const message = `Only your owner can change ${forbidden}, with PATCH /agents/{agent_id}.`;
    throw new ServiceError('FORBIDDEN', message);
  },
  update_agent(call: Call, { agent_ref, ...changes }: Partial<AgentProfile> & { agent_ref: string }) {
    requireChanges(changes);
    const agent = requireAgent(call, agent_ref);
    if (ownerOf(agent) !== ownerOf(call.me))
      throw new ServiceError('FORBIDDEN', 'You do not manage this agent.');
    return presentAgent(call.state, changeAgent(call, agent, changes));
  },
  register_agent({ state, me }: Call, { name, scope, organization, ...profile }: RegisterAgent) {
    if (scope !== undefined || organization !== undefined)
      throw new ServiceError('NOT_FOUND', 'The fake service has no organizations.');
    return presentAgent(state, addAgent(state, `${ownerOf(me)}.${name}`, profile));
  },
  list_agents(call: Call, input: PageInput) {
    const owned = () => [...call.state.agents.values()].filter((one) => isOwned(call, one));
    const { rows, next_cursor } = readPage(call, input, ['agents'], owned);
    return { agents: rows.map((agent) => presentAgent(call.state, agent)), next_cursor };
  },
  get_agent: (call: Call, { agent_ref }: { agent_ref: string }) =>
    presentAgent(call.state, requireAgent(call, agent_ref)),
  get_agent_profile(call: Call, { owner, agent_name }: { owner: string; agent_name: string }) {
    const agent = requireAgent(call, `${owner}.${agent_name}`);
    const relationship = relationshipOf(call.me, agent);
    return { agent: presentAgent(call.state, agent), viewer: { relationship } };
  },
} satisfies Record<string, Handler>;

const isOwned = ({ me }: Call, agent: Agent): boolean => !agent.is_retired && ownerOf(agent) === ownerOf(me);

interface RegisterAgent extends Partial<AgentProfile> {
  name: string;
  scope?: string;
  organization?: string;
}
