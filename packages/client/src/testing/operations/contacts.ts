import type { Block } from '../../generated/contacts.ts';
import { z } from 'zod';
import { parseAllowlistEntry } from '../../../../core/src/domain/agents/handles.ts';
import { DomainError } from '../../../../core/src/domain/errors.ts';
import {
  blockAgentInput,
  listContactRequestsInput,
  requestContactInput,
  withdrawContactRequestInput,
} from '../../../../core/src/inputs/contacts.ts';
import {
  agentReference,
  allowlistEntry,
  pageFields,
  requestReference,
} from '../../../../core/src/inputs/fields.ts';
import { checkRequestPolicy, isRelated } from '../../../../core/src/policies/inbound.ts';
import {
  type ContactRecord,
  type ContactRequestRecord,
  presentContact,
  presentContactRequest,
} from '../../../../core/src/records/contact.ts';
import { emit } from '../core/feed.ts';
import type { Agent, ContactRequest } from '../core/records.ts';
import { type Call, defineHandler, type State } from '../core/state.ts';
import { isOnline, relate, requireNotPaused, requireOtherAgent, toAgentId } from './agents.ts';
import { readPage } from '../core/pages.ts';

function agentOf(state: State, id: string): Agent {
  const agent = state.agents.get(id);
  if (!agent) throw new Error(`the fake service has no agent ${id}`);
  return agent;
}

function presentParty(state: State, id: string) {
  const { canonical_handle, display_name } = agentOf(state, id);
  return { id, canonical_handle, display_name };
}

/** No list has a withdrawn request. */
function presentRequest(state: State, request: ContactRequest): ContactRequestRecord {
  const { from_id, to_id, status } = request;
  const parties = { from: presentParty(state, from_id), to: presentParty(state, to_id) };
  return presentContactRequest({ ...request, ...parties, status: status as ContactRequestRecord['status'] });
}

function describeContact(state: State, me: Agent, id: string): ContactRecord {
  const contact = agentOf(state, id);
  const { same_owner } = relate(me, contact);
  const { favorite = false, since = 0 } = me.contacts.get(id) ?? {};
  return presentContact({
    ...contact,
    agent_id: id,
    favorite,
    is_online: isOnline(state, contact),
    same_owner,
    since,
  });
}

/** Contacts of an agent as records, in the order of their handles. */
export function listContactRecords(state: State, me: Agent): ContactRecord[] {
  const contacts = [...me.contacts.keys()].map((id) => describeContact(state, me, id));
  return contacts.sort((a, b) => (a.canonical_handle < b.canonical_handle ? -1 : 1));
}

/** Makes two agents contacts. */
export function beginContact(state: State, one: Agent, other: Agent): void {
  const since = state.clock.now();
  for (const [me, contact] of [
    [one, other],
    [other, one],
  ] as const) {
    me.contacts.set(contact.id, { since, favorite: false });
    emit(state, { type: 'contact.added', recipients: [me.id], data: describeContact(state, me, contact.id) });
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

/** @throws {DomainError} REQUEST_NOT_FOUND, INVALID_HANDLE */
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
  throw new DomainError('REQUEST_NOT_FOUND', 'You have no such contact request.');
}

function requireContact({ state, me }: Call, ref: string): Agent {
  const id = toAgentId(state, ref);
  if (me.contacts.has(id)) return agentOf(state, id);
  throw new DomainError('CONTACT_NOT_FOUND', 'This agent is not one of your contacts.');
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

const contactRef = z.strictObject({ agent_ref: agentReference });
const requestRef = z.strictObject({ request_ref: requestReference });
const entryInput = z.strictObject({ entry: allowlistEntry });
const listInput = z.strictObject(pageFields(100, 50));

export const contactHandlers = {
  list_contacts: defineHandler(listInput, (call, input) => {
    const list = () => listContactRecords(call.state, call.me);
    const { rows, next_cursor } = readPage(call, input, ['contacts'], list);
    return { contacts: rows, next_cursor };
  }),
  remove_contact: defineHandler(contactRef, (call, { agent_ref }) => {
    endContact(call.state, call.me, requireContact(call, agent_ref));
    return {};
  }),
  add_favorite: defineHandler(contactRef, (call, { agent_ref }) => setFavorite(call, agent_ref, true)),
  remove_favorite: defineHandler(contactRef, (call, { agent_ref }) => setFavorite(call, agent_ref, false)),
  request_contact: defineHandler(requestContactInput, (call, input) => {
    const { state, me } = call;
    const other = requireOtherAgent(call, input.handle);
    requireNotPaused(me);
    const own = findPending(call, me.id, other.id);
    const isContact = me.contacts.has(other.id);
    const refusal = isContact ? null : checkRequestPolicy(other, relate(me, other));
    if (refusal) throw refusal;
    const known = isContact ? state.requests.findLast((one) => isApprovedOf(one, me, other)) : own;
    const request: ContactRequest = known ?? {
      request_id: state.newId('contactRequest'),
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
    if (!isBlocked && (isRelated(relate(me, other)) || findPending(call, other.id, me.id))) {
      approve(state, me, other);
      beginContact(state, me, other);
    } else if (!own && !isBlocked) announce(state, request);
    return presentRequest(state, request);
  }),
  list_contact_requests: defineHandler(listContactRequestsInput, (call, { direction, status, ...page }) => {
    const { state, me } = call;
    const isListed = (request: ContactRequest) =>
      request.status === status &&
      (direction === 'outgoing'
        ? request.from_id === me.id
        : request.to_id === me.id && !me.blocks.has(request.from_id));
    const list = () => state.requests.filter(isListed).toReversed();
    const { rows, next_cursor } = readPage(call, page, ['requests', direction, status], list);
    return { requests: rows.map((request) => presentRequest(state, request)), next_cursor };
  }),
  approve_contact_request: defineHandler(requestRef, (call, { request_ref }) => {
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
  }),
  reject_contact_request: defineHandler(requestRef, (call, { request_ref }) => {
    const request = requireRequest(call, request_ref);
    if (request.status === 'approved') requireRequest(call, 'creq_');
    request.status = 'rejected';
    return {};
  }),
  withdraw_contact_request: defineHandler(
    withdrawContactRequestInput,
    ({ state, me }, { request_ref: ref }) => {
      const toId = ref.startsWith('creq_') ? undefined : toAgentId(state, ref);
      const sent = state.requests.find(
        (request) =>
          request.from_id === me.id &&
          request.status === 'pending' &&
          (toId === undefined ? request.request_id === ref : request.to_id === toId),
      );
      if (!sent) throw new DomainError('REQUEST_NOT_FOUND', 'You have no such contact request.');
      sent.status = 'withdrawn';
      return {};
    },
  ),
  list_blocks: defineHandler(listInput, (call, input) => {
    const { state, me } = call;
    const { rows, next_cursor } = readPage(call, input, ['blocks'], () => [...me.blocks].toReversed());
    return { blocks: rows.map(([id, { created_at }]) => presentBlock(state, id, created_at)), next_cursor };
  }),
  block_agent: defineHandler(blockAgentInput, (call, { handle: ref }) => {
    const { state, me } = call;
    const id = toAgentId(state, ref);
    const before = me.blocks.get(id);
    if (before) return presentBlock(state, id, before.created_at);
    const other = requireOtherAgent(call, ref);
    me.blocks.set(other.id, { created_at: state.clock.now() });
    const own = findPending(call, me.id, other.id);
    if (own) own.status = 'withdrawn';
    endContact(state, me, other);
    return presentBlock(state, other.id, state.clock.now());
  }),
  unblock_agent: defineHandler(z.strictObject({ handle: agentReference }), (call, { handle: ref }) => {
    const id = toAgentId(call.state, ref);
    if (!call.me.blocks.delete(id)) throw new DomainError('NOT_FOUND', 'You have not blocked this agent.');
    const request = findPending(call, id, call.me.id);
    if (request && !request.is_announced) announce(call.state, request);
    return {};
  }),
  list_allowlist: defineHandler(listInput, (call, input) => {
    const list = () => [...call.me.allowlist].sort(([a], [b]) => (a < b ? -1 : 1));
    const { rows, next_cursor } = readPage(call, input, ['allowlist'], list);
    return { allowlist: rows.map(([entry, { created_at }]) => ({ entry, created_at })), next_cursor };
  }),
  add_allowlist_entry: defineHandler(entryInput, ({ state, me }, input) => {
    const entry = parseAllowlistEntry(input.entry);
    if (!me.allowlist.has(entry)) me.allowlist.set(entry, { created_at: state.clock.now() });
    return { entry, ...me.allowlist.get(entry) };
  }),
  remove_allowlist_entry: defineHandler(entryInput, ({ me }, { entry }) => {
    if (me.allowlist.delete(parseAllowlistEntry(entry))) return {};
    throw new DomainError('NOT_FOUND', 'This entry is not on your allowlist.');
  }),
};

const isApprovedOf = (request: ContactRequest, me: Agent, other: Agent): boolean =>
  request.status === 'approved' && request.from_id === me.id && request.to_id === other.id;

function presentBlock(state: State, id: string, created_at: number): Block {
  return { blocked_agent_id: id, blocked_handle: agentOf(state, id).canonical_handle, created_at };
}
