import { requireNotPaused, requireOtherAgent, parseHandle, ownerOf, toAgentId } from './agents.ts';
import { emit } from '../core/feed.ts';
import { readPage, type PageInput } from './pages.ts';
import { requireRequestAllowed } from './policies.ts';
import type { Agent, ContactRequest } from '../core/records.ts';
import { ServiceError } from '../core/service-error.ts';
import type { Call, Handler, State } from '../core/state.ts';

function agentOf(state: State, id: string): Agent {
  const agent = state.agents.get(id);
  if (!agent) throw new Error(`the fake service has no agent ${id}`);
  return agent;
}

function presentParty(state: State, id: string): object {
  const { canonical_handle, display_name } = agentOf(state, id);
  return { id, canonical_handle, display_name };
}

function presentRequest(state: State, request: ContactRequest): object {
  const { request_id, from_id, to_id, message, status, created_at } = request;
  const parties = { from: presentParty(state, from_id), to: presentParty(state, to_id) };
  return { request_id, ...parties, message, status, created_at };
}

function presentContact(state: State, me: Agent, id: string): object {
  const contact = agentOf(state, id);
  const { canonical_handle, display_name } = contact;
  const same_owner = ownerOf(me) === ownerOf(contact);
  const { favorite = false, since = 0 } = me.contacts.get(id) ?? {};
  const is_online = (state.presence.get(id) ?? 0) > 0;
  return { agent_id: id, canonical_handle, display_name, favorite, is_online, same_owner, since };
}

/** Contacts of an agent as records, in the order of their handles. */
export function listContactRecords(state: State, me: Agent): object[] {
  const handleOf = (id: string) => agentOf(state, id).canonical_handle;
  const ids = [...me.contacts.keys()].sort((a, b) => (handleOf(a) < handleOf(b) ? -1 : 1));
  return ids.map((id) => presentContact(state, me, id));
}

/** Makes two agents contacts. */
export function beginContact(state: State, one: Agent, other: Agent): void {
  const since = state.clock.now();
  for (const [me, contact] of [
    [one, other],
    [other, one],
  ] as const) {
    me.contacts.set(contact.id, { since, favorite: false });
    const { id: agent_id, canonical_handle, display_name } = contact;
    const same_owner = ownerOf(me) === ownerOf(contact);
    const data = { agent_id, canonical_handle, display_name, favorite: false, same_owner, since };
    emit(state, { type: 'contact.added', recipients: [me.id], data });
  }
}

function endContact(state: State, me: Agent, other: Agent): boolean {
  if (!me.contacts.delete(other.id)) return false;
  other.contacts.delete(me.id);
  for (const [recipient, { id: agent_id, canonical_handle }] of [
    [me, other],
    [other, me],
  ] as const) {
    emit(state, {
      type: 'contact.removed',
      recipients: [recipient.id],
      data: { agent_id, canonical_handle },
    });
  }
  return true;
}

function announce(state: State, request: ContactRequest): void {
  const { request_id, to_id, from_id, message, created_at } = request;
  request.is_announced = true;
  const data = { request_id, from: presentParty(state, from_id), message, created_at };
  emit(state, { type: 'contact.request', recipients: [to_id], data });
}

function findPending({ state }: Call, from_id: string, to_id: string): ContactRequest | undefined {
  return state.requests.find(
    (one) => one.from_id === from_id && one.to_id === to_id && one.status === 'pending',
  );
}

function approve(state: State, one: Agent, other: Agent): void {
  for (const request of state.requests) {
    const isOfPair =
      (request.from_id === one.id && request.to_id === other.id) ||
      (request.from_id === other.id && request.to_id === one.id);
    if (isOfPair && request.status === 'pending') request.status = 'approved';
  }
}

/** @throws {ServiceError} REQUEST_NOT_FOUND, INVALID_HANDLE */
function requireRequest({ state, me }: Call, ref: string): ContactRequest {
  const fromId = ref.startsWith('creq_') ? undefined : toAgentId(state, ref);
  const found = state.requests.findLast(
    (request) =>
      request.to_id === me.id &&
      request.status !== 'withdrawn' &&
      !me.blocks.has(request.from_id) &&
      (fromId === undefined ? request.request_id === ref : request.from_id === fromId),
  );
  if (found) return found;
  throw new ServiceError('REQUEST_NOT_FOUND', 'You have no such contact request.');
}

function requireContact({ state, me }: Call, ref: string): Agent {
  const id = toAgentId(state, ref);
  if (me.contacts.has(id)) return agentOf(state, id);
  throw new ServiceError('CONTACT_NOT_FOUND', 'This agent is not one of your contacts.');
}

function setFavorite(call: Call, ref: string, favorite: boolean): object {
  const { id: agent_id, canonical_handle } = requireContact(call, ref);
  const contact = call.me.contacts.get(agent_id);
  if (!contact || contact.favorite === favorite) return {};
  contact.favorite = favorite;
  const data = { agent_id, canonical_handle, favorite };
  emit(call.state, { type: 'contact.updated', recipients: [call.me.id], data });
  return {};
}

interface ListRequests extends PageInput {
  direction: 'incoming' | 'outgoing';
  status: string;
}

export const contactHandlers = {
  list_contacts(call: Call, input: PageInput) {
    const list = () => listContactRecords(call.state, call.me);
    const { rows, next_cursor } = readPage(call, input, ['contacts'], list);
    return { contacts: rows, next_cursor };
  },
  remove_contact(call: Call, { agent_ref }: { agent_ref: string }) {
    endContact(call.state, call.me, requireContact(call, agent_ref));
    return {};
  },
  add_favorite: (call: Call, { agent_ref }: { agent_ref: string }) => setFavorite(call, agent_ref, true),
  remove_favorite: (call: Call, { agent_ref }: { agent_ref: string }) => setFavorite(call, agent_ref, false),
  request_contact(call: Call, input: { handle: string; message?: string | null }) {
    const { state, me } = call;
    const other = requireOtherAgent(call, input.handle);
    requireNotPaused(me);
    const own = findPending(call, me.id, other.id);
    const isContact = me.contacts.has(other.id);
    if (!isContact) requireRequestAllowed(me, other);
    const known = isContact ? state.requests.findLast((one) => isApprovedOf(one, me, other)) : own;
    const request: ContactRequest = known ?? {
      request_id: state.newId('creq'),
      from_id: me.id,
      to_id: other.id,
      message: input.message ?? null,
      status: isContact ? 'approved' : 'pending',
      is_announced: false,
      created_at: state.clock.now(),
    };
    if (!known) state.requests.push(request);
    if (isContact) return presentRequest(state, request);
    const isBlocked = other.blocks.has(me.id);
    if (!isBlocked && (ownerOf(me) === ownerOf(other) || findPending(call, other.id, me.id))) {
      approve(state, me, other);
      beginContact(state, me, other);
    } else if (!own && !isBlocked) announce(state, request);
    return presentRequest(state, request);
  },
  list_contact_requests(call: Call, { direction, status, ...page }: ListRequests) {
    const { state, me } = call;
    const isListed = (request: ContactRequest) =>
      request.status === status &&
      (direction === 'outgoing'
        ? request.from_id === me.id
        : request.to_id === me.id && !me.blocks.has(request.from_id));
    const list = () => state.requests.filter(isListed).toReversed();
    const { rows, next_cursor } = readPage(call, page, ['requests', direction, status], list);
    return { requests: rows.map((request) => presentRequest(state, request)), next_cursor };
  },
  approve_contact_request(call: Call, { request_ref }: { request_ref: string }) {
    const { state, me } = call;
    requireNotPaused(me);
    const request = requireRequest(call, request_ref);
    if (request.status === 'rejected') requireRequest(call, 'creq_');
    if (request.status === 'pending') {
      const other = agentOf(state, request.from_id);
      approve(state, me, other);
      beginContact(state, me, other);
    }
    return presentRequest(state, request);
  },
  reject_contact_request(call: Call, { request_ref }: { request_ref: string }) {
    const request = requireRequest(call, request_ref);
    if (request.status === 'approved') requireRequest(call, 'creq_');
    request.status = 'rejected';
    return {};
  },
  withdraw_contact_request({ state, me }: Call, { request_ref: ref }: { request_ref: string }) {
    const toId = ref.startsWith('creq_') ? undefined : toAgentId(state, ref);
    const sent = state.requests.find(
      (request) =>
        request.from_id === me.id &&
        request.status === 'pending' &&
        (toId === undefined ? request.request_id === ref : request.to_id === toId),
    );
    if (!sent) throw new ServiceError('REQUEST_NOT_FOUND', 'You have no such contact request.');
    sent.status = 'withdrawn';
    return {};
  },
  list_blocks(call: Call, input: PageInput) {
    const { state, me } = call;
    const { rows, next_cursor } = readPage(call, input, ['blocks'], () => [...me.blocks].toReversed());
    return { blocks: rows.map(([id, { created_at }]) => presentBlock(state, id, created_at)), next_cursor };
  },
  block_agent(call: Call, { handle }: { handle: string }) {
    const { state, me } = call;
    const id = toAgentId(state, handle);
    const before = me.blocks.get(id);
    if (before) return presentBlock(state, id, before.created_at);
    const other = requireOtherAgent(call, handle);
    me.blocks.set(other.id, { created_at: state.clock.now() });
    const own = findPending(call, me.id, other.id);
    if (own) own.status = 'withdrawn';
    endContact(state, me, other);
    return presentBlock(state, other.id, state.clock.now());
  },
  unblock_agent(call: Call, { handle }: { handle: string }) {
    const id = toAgentId(call.state, handle);
    if (!call.me.blocks.delete(id)) throw new ServiceError('NOT_FOUND', 'You have not blocked this agent.');
    const request = findPending(call, id, call.me.id);
    if (request && !request.is_announced) announce(call.state, request);
    return {};
  },
  list_allowlist(call: Call, input: PageInput) {
    const list = () => [...call.me.allowlist].sort(([a], [b]) => (a < b ? -1 : 1));
    const { rows, next_cursor } = readPage(call, input, ['allowlist'], list);
    return { allowlist: rows.map(([entry, { created_at }]) => ({ entry, created_at })), next_cursor };
  },
  add_allowlist_entry({ state, me }: Call, input: { entry: string }) {
    const entry = parseEntry(input.entry);
    if (!me.allowlist.has(entry)) me.allowlist.set(entry, { created_at: state.clock.now() });
    return { entry, ...me.allowlist.get(entry) };
  },
  remove_allowlist_entry({ me }: Call, { entry }: { entry: string }) {
    if (me.allowlist.delete(parseEntry(entry))) return {};
    throw new ServiceError('NOT_FOUND', 'This entry is not on your allowlist.');
  },
} satisfies Record<string, Handler>;

const isApprovedOf = (request: ContactRequest, me: Agent, other: Agent): boolean =>
  request.status === 'approved' && request.from_id === me.id && request.to_id === other.id;

function presentBlock(state: State, id: string, created_at: number): object {
  return { blocked_agent_id: id, blocked_handle: agentOf(state, id).canonical_handle, created_at };
}

/** A handle, or `owner.*`. @throws {ServiceError} INVALID_HANDLE */
function parseEntry(value: string): string {
  const entry = value.trim().replace(/^@/, '').toLowerCase();
  return entry.endsWith('.*')
    ? parseHandle(`${entry.slice(0, -2)}.x`).replace(/x$/, '*')
    : parseHandle(entry);
}
