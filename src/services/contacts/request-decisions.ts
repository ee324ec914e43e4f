import type { ContactRequestRow } from '../../repositories/contacts/requests.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import type { SystemWork, Work } from '../../work/unit-of-work.ts';
import { parseAgentKey } from '../access.ts';
import { requireActiveActor } from '../actor-checks.ts';
import { beginContact } from './contact-events.ts';

/**
 * Approves a request to the actor: the two agents become contacts, and both receive an event. Approving again changes nothing.
 * @param ref id of the request, or id or handle of its sender.
 * @throws {DomainError} AGENT_PAUSED; REQUEST_NOT_FOUND, also for a request to another agent, a rejected or withdrawn one, and one of
 * an agent that the actor blocks; INVALID_HANDLE
 */
export async function approveRequest(work: Work, ref: string) {
  await requireActiveActor(work);
  const request = await lockRequest(work, ref, work.actor.agent_id);
  if (request.status === 'approved') return request;
  if (request.status === 'rejected') throw requestNotFound();
  const { from, to } = request;
  await work.db.contactRequests.approve(from.id, to.id, work.now);
  await beginContact(work, to, from);
  auditDecision(work, 'contact_request.approved', request);
  return { ...request, status: 'approved' as const };
}

/**
 * Rejects a request to the actor. The sender receives no event, but sees the status in its list. Rejecting again changes nothing.
 * @param ref id of the request, or id or handle of its sender.
 * @throws {DomainError} REQUEST_NOT_FOUND as approveRequest; INVALID_HANDLE
 */
export async function rejectRequest(work: Work, ref: string) {
  const request = await lockRequest(work, ref, work.actor.agent_id);
  if (request.status === 'approved') throw requestNotFound();
  if (request.status === 'pending') {
    await work.db.contactRequests.reject(request.request_id, work.now);
    auditDecision(work, 'contact_request.rejected', request);
  }
  return { ...request, status: 'rejected' as const };
}

/**
 * Withdraws a pending request of the actor. As with a rejection, there is no event: the request leaves the lists of both agents.
 * @param ref id of the request, or id or handle of the agent that it was sent to.
 * @throws {DomainError} REQUEST_NOT_FOUND, also for a request of another agent and for one that is no longer pending; INVALID_HANDLE
 */
export async function withdrawRequest(work: Work, ref: string): Promise<void> {
  const { agent_id } = work.actor;
  const key = isRequestId(ref) ? ref : parseAgentKey(ref);
  const { request_id, from, to } = await lockPairOf(work, () =>
    work.db.contactRequests.findSent(agent_id, key),
  );
  await work.db.contactRequests.withdraw(from.id, to.id, work.now);
  work.changes.audit({
    act: 'contact_request.withdrawn',
    agent_id,
    about: to.canonical_handle,
    detail: { request_id },
  });
}

function auditDecision(
  work: Work,
  act: 'contact_request.approved' | 'contact_request.rejected',
  { request_id, from, to }: ContactRequestRow,
): void {
  work.changes.audit({ act, agent_id: to.id, about: from.canonical_handle, detail: { request_id } });
}

/**
 * Returns a request to an agent, and locks the pair of its agents until the transaction ends.
 * @throws {DomainError} REQUEST_NOT_FOUND; INVALID_HANDLE
 */
export async function lockRequest(
  work: SystemWork,
  ref: string,
  agent_id: string,
): Promise<ContactRequestRow> {
  return lockPairOf(
    work,
    isRequestId(ref)
      ? () => work.db.contactRequests.findForAddressee(agent_id, ref)
      : () => work.db.contactRequests.findFromAgent(agent_id, parseAgentKey(ref)),
  );
}

/** Finds the request again after the lock, because it can have changed before. */
async function lockPairOf(
  work: SystemWork,
  find: () => Promise<ContactRequestRow | undefined>,
): Promise<ContactRequestRow> {
  const unlocked = await find();
  if (!unlocked) throw requestNotFound();
  await work.db.contacts.lockPair(unlocked.from.id, unlocked.to.id);
  const request = await find();
  if (!request) throw requestNotFound();
  return request;
}

function isRequestId(ref: string): boolean {
  return ref.startsWith('creq_');
}

/** Returns the error for a request that is absent, belongs to others, or was decided otherwise. */
export function requestNotFound(): DomainError {
  return new DomainError('REQUEST_NOT_FOUND', 'You have no such contact request.');
}
