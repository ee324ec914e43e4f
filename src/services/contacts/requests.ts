import { newId } from '../../domain/ids.ts';
import { isRelated, checkRequestPolicy } from '../../policies/inbound.ts';
import type { Work } from '../../work/unit-of-work.ts';
import { requireOtherAgent } from '../access.ts';
import { requireActingAgent } from '../actor-checks.ts';
import { type PageRequest, readPage } from '../paging.ts';
import { beginContact } from './contact-events.ts';

type Request = Awaited<ReturnType<Work['contactRequests']['insert']>>;

export interface RequestContact {
  /** Handle or id. */
  handle: string;
  message: string | null;
}

/**
 * Asks another agent for contact. Approved at once between agents of one owner or organization, and when the other one has
 * asked too; asking again answers the request that is pending, and asking a contact answers an approved one.
 * An agent that is blocked by the other side is answered like a stranger, and the other side never sees its request.
 * @throws {DomainError} AGENT_PAUSED, AGENT_NOT_FOUND, INVALID_HANDLE, VALIDATION_ERROR (oneself), BLOCKED (by oneself), and
 * what the inbound policy of the other one refuses
 */
export async function requestContact(work: Work, { handle, message }: RequestContact): Promise<Request> {
  const { me, other, mine, theirs } = await lockPair(work, handle);
  const ask = () => insertRequest(work, other, message);
  if (other.contact) {
    const before = await work.contactRequests.findApproved(me.id, other.id);
    return before ?? approveRequest(work, await ask());
  }
  const refusal = checkRequestPolicy(other, other);
  if (refusal) throw refusal;

  const request = mine ?? (await ask());
  if (!other.blocked_by_them && (isRelated(other) || theirs)) {
    await beginContact(work, me, other);
    return approveRequest(work, request);
  }
  if (!mine && !other.blocked_by_them) emitRequested(work, request);
  return request;
}

/**
 * What people are asked about before the request goes out; null when it would change nothing: the two are contacts, or the request
 * waits already.
 * @throws {DomainError} as requestContact
 */
export async function describeContactRequest(work: Work, { handle, message }: RequestContact) {
  const { other, mine, theirs } = await lockPair(work, handle);
  if (other.contact) return null;
  const refusal = checkRequestPolicy(other, other);
  if (refusal) throw refusal;
  return mine && !theirs ? null : { target: other.canonical_handle, message };
}

/** The two, and their requests that wait; nothing between them changes until the unit of work ends. */
async function lockPair(work: Work, handle: string) {
  const sought = await requireOtherAgent(work, handle);
  await work.contacts.lockPair(work.actor.agent_id, sought.id);
  const [me, other, pending] = await Promise.all([
    requireActingAgent(work),
    requireOtherAgent(work, handle),
    work.contactRequests.findPending(work.actor.agent_id, sought.id),
  ]);
  const mine = pending.find(({ from }) => from.id === me.id);
  const theirs = pending.some(({ from }) => from.id === other.id);
  return { me, other, mine, theirs };
}

function insertRequest(
  work: Work,
  to: { id: string; canonical_handle: string },
  message: string | null,
): Promise<Request> {
  const id = newId('contactRequest');
  const from_agent_id = work.actor.agent_id;
  work.audit({ act: 'contact.requested', agent_id: from_agent_id, about: to.canonical_handle });
  return work.contactRequests.insert({
    id,
    from_agent_id,
    to_agent_id: to.id,
    message,
    created_at: work.now,
  });
}

function emitRequested(work: Work, { request_id, from, to, message, created_at }: Request): void {
  work.emit({
    type: 'contact.request',
    recipients: [to.id],
    data: { request_id, from, message, created_at },
  });
}

async function approveRequest(work: Work, request: Request): Promise<Request> {
  await work.contactRequests.approve(request.from.id, request.to.id, work.now);
  return { ...request, status: 'approved' };
}

export interface ListContactRequests extends PageRequest {
  direction: 'incoming' | 'outgoing';
  status: Request['status'];
}

/** A page of what the actor was asked, or of what it asked, newest first. */
export async function listContactRequests(work: Work, { direction, status, ...page }: ListContactRequests) {
  const { rows, next_cursor } = await readPage(work, page, {
    binding: ['list_contact_requests', direction, status],
    rows(after: readonly [number, string] | null, limit) {
      const before = after && { created_at: after[0], id: after[1] };
      return work.contactRequests.list(work.actor.agent_id, { direction, status, before, limit });
    },
    position: (request) => [request.created_at, request.request_id],
  });
  return { requests: rows, next_cursor };
}
