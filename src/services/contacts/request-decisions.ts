import { DomainError } from '../../domain/errors.ts';
import type { Work } from '../../work/unit-of-work.ts';
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
  const request = await lockRequest(work, ref);
  if (request.status === 'approved') return request;
  if (request.status === 'rejected') throw requestNotFound();
  const { from, to } = request;
  await work.contactRequests.approve(from.id, to.id, work.now);
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
  const request = await lockRequest(work, ref);
  if (request.status === 'approved') throw requestNotFound();
  if (request.status === 'pending') {
    await work.contactRequests.reject(request.request_id, work.now);
    auditDecision(work, 'contact_request.rejected', request);
  }
  return { ...request, status: 'rejected' as const };
}

function auditDecision(
  work: Work,
  act: 'contact_request.approved' | 'contact_request.rejected',
  { request_id, from, to }: Awaited<ReturnType<typeof lockRequest>>,
): void {
  work.audit({ act, agent_id: to.id, about: from.canonical_handle, detail: { request_id } });
}

/** Returns the request, and locks the pair of its agents until the transaction ends. */
async function lockRequest(work: Work, ref: string) {
  const { agent_id } = work.actor;
  const find = ref.startsWith('creq_')
    ? () => work.contactRequests.findForAddressee(agent_id, ref)
    : () => work.contactRequests.findFromAgent(agent_id, parseAgentKey(ref));
  const unlocked = await find();
  if (!unlocked) throw requestNotFound();
  await work.contacts.lockPair(unlocked.from.id, unlocked.to.id);
  const request = await find();
  if (!request) throw requestNotFound();
  return request;
}

function requestNotFound(): DomainError {
  return new DomainError('REQUEST_NOT_FOUND', 'You have no such contact request.');
}
