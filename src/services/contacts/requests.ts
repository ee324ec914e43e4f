import type { ContactRequestRow } from '../../repositories/contacts/requests.ts';
import { newId } from '../../../packages/core/src/domain/ids.ts';
import { isRelated, checkRequestPolicy } from '../../../packages/core/src/policies/inbound.ts';
import type { Work } from '../../work/unit-of-work.ts';
import { requireOtherAgent } from '../access.ts';
import { requireActingAgent } from '../actor-checks.ts';
import { requireReviewed } from '../approvals/outgoing.ts';
import { type PageRequest, readPage } from '../paging.ts';
import { beginContact, emitRequested } from './contact-events.ts';

export interface RequestContact {
  /** Handle or id. */
  handle: string;
  message: string | null;
}

/**
 * Requests contact with another agent. The request is approved at once between agents of one owner or organization, and if the other
 * agent has requested contact too. Repeating it returns the pending request; for a contact it returns an approved one.
 * A blocked agent gets the same response as a stranger, and the other side never sees its request.
 * @throws {DomainError} AGENT_PAUSED, AGENT_NOT_FOUND, INVALID_HANDLE, VALIDATION_ERROR (the actor itself), BLOCKED (by the actor),
 * NOT_TRUSTED or NOT_ALLOWED (inbound policy of the other agent)
 */
export async function requestContact(
  work: Work,
  { handle, message }: RequestContact,
): Promise<ContactRequestRow> {
  const { me, other, isContact, ownRequest, hasReverseRequest } = await lockPair(work, handle);
  const insert = async () => {
    await requireReviewed(work, me.outgoing_policy, { agents: [other.id] });
    return insertRequest(work, other, message);
  };
  const repeat = async () => {
    const approved = await work.db.contactRequests.findApproved(me.id, other.id);
    return approved ?? approveRequest(work, await insert());
  };
  if (other.contact) return repeat();
  const error = checkRequestPolicy(other, other);
  if (error) throw error;
  // Contacts because of their owner, without a row.
  if (isContact) return repeat();

  const request = ownRequest ?? (await insert());
  if (!other.blocked_by_them && (isRelated(other) || hasReverseRequest)) {
    await beginContact(work, me, other);
    return approveRequest(work, request);
  }
  if (!ownRequest && !other.blocked_by_them) emitRequested(work, request);
  return request;
}

/**
 * Returns what people are asked to approve before a contact request is sent; null if the request would change nothing, because the
 * two are contacts or the request is pending already.
 * @throws {DomainError} as requestContact
 */
export async function describeContactRequest(work: Work, { handle, message }: RequestContact) {
  const { other, isContact, ownRequest, hasReverseRequest } = await lockPair(work, handle);
  if (other.contact) return null;
  const error = checkRequestPolicy(other, other);
  if (error) throw error;
  if (isContact) return null;
  return ownRequest && !hasReverseRequest ? null : { target: other.canonical_handle, message };
}

/** Locks the pair until the transaction ends; returns the two agents and their pending requests. */
async function lockPair(work: Work, handle: string) {
  const { id } = await requireOtherAgent(work, handle);
  await work.db.contacts.lockPair(work.actor.agent_id, id);
  const [me, other, contact, pending] = await Promise.all([
    requireActingAgent(work),
    requireOtherAgent(work, handle),
    work.db.contacts.find(work.actor.agent_id, id),
    work.db.contactRequests.findPending(work.actor.agent_id, id),
  ]);
  const ownRequest = pending.find(({ from }) => from.id === me.id);
  const hasReverseRequest = pending.some(({ from }) => from.id === other.id);
  return { me, other, isContact: contact !== undefined, ownRequest, hasReverseRequest };
}

function insertRequest(
  work: Work,
  to: { id: string; canonical_handle: string; blocked_by_them: boolean },
  message: string | null,
): Promise<ContactRequestRow> {
  const id = newId('contactRequest');
  const from_agent_id = work.actor.agent_id;
  work.changes.audit({ act: 'contact.requested', agent_id: from_agent_id, about: to.canonical_handle });
  return work.db.contactRequests.insert({
    id,
    from_agent_id,
    to_agent_id: to.id,
    message,
    announced: !to.blocked_by_them,
    created_at: work.now,
  });
}

async function approveRequest(work: Work, request: ContactRequestRow): Promise<ContactRequestRow> {
  await work.db.contactRequests.approve(request.from.id, request.to.id, work.now);
  return { ...request, status: 'approved' };
}

export interface ListContactRequests extends PageRequest {
  direction: 'incoming' | 'outgoing';
  status: ContactRequestRow['status'];
}

/** Returns a page of the actor's incoming or outgoing requests, newest first. */
export async function listContactRequests(work: Work, { direction, status, ...page }: ListContactRequests) {
  return readPage(work, page, {
    binding: ['list_contact_requests', direction, status],
    rows(after: readonly [number, string] | null, limit) {
      const before = after && { created_at: after[0], id: after[1] };
      return work.db.contactRequests.list(work.actor.agent_id, { direction, status, before, limit });
    },
    position: (request) => [request.created_at, request.request_id],
  });
}
