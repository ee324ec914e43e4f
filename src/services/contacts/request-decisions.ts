import { DomainError } from '../../domain/errors.ts';
import type { Work } from '../../work/unit-of-work.ts';
import { parseAgentKey } from '../access.ts';
import { requireActiveActor } from '../actor-checks.ts';
import { beginContact } from './contact-events.ts';

/**
 * Takes a request that the actor was sent: both become contacts, and both are told. Approving again changes nothing.
 * @param ref id of the request, or id or handle of the agent that asked.
 * @throws {DomainError} AGENT_PAUSED; REQUEST_NOT_FOUND, also for a request of somebody else, one that was rejected or
 * withdrawn, and one of an agent that the actor has blocked; INVALID_HANDLE
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
 * Turns a request down. The other side is not told; it finds it in its list. Rejecting again changes nothing.
 * @param ref id of the request, or id or handle of the agent that asked.
 * @throws {DomainError} REQUEST_NOT_FOUND, as for an approval; INVALID_HANDLE
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

/** The request, with its pair held: nothing between the two changes until the unit of work ends. */
async function lockRequest(work: Work, ref: string) {
  const { agent_id } = work.actor;
  const find = ref.startsWith('creq_')
    ? () => work.contactRequests.findForAddressee(agent_id, ref)
    : () => work.contactRequests.findFromAgent(agent_id, parseAgentKey(ref));
  const sought = await find();
  if (!sought) throw requestNotFound();
  await work.contacts.lockPair(sought.from.id, sought.to.id);
  const request = await find();
  if (!request) throw requestNotFound();
  return request;
}

function requestNotFound(): DomainError {
  return new DomainError('REQUEST_NOT_FOUND', 'No such contact request waits for you.');
}
