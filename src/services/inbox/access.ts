import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { readFencingToken } from './lease-ids.ts';
import type { Work } from '../../work/unit-of-work.ts';

/** The refusal of every operation on an inbox that is off. */
export function inboxNotFound(): DomainError {
  return new DomainError('INBOX_NOT_FOUND', 'The inbox of this agent is off.', {
    advice: { rest: 'Turn it on with PUT /v1/inbox.', call: 'Turn it on with set_inbox.' },
  });
}

/** The refusal of a write of a lease that has ended. */
export function leaseLost(): DomainError {
  return new DomainError(
    'LEASE_LOST',
    'This lease has ended: it expired, was acknowledged or released, or its token, agent or thread ended it. Nothing was written; claim again.',
  );
}

/**
 * Returns the key of a lease. It says nothing about whether the lease is current.
 * @throws {DomainError} LEASE_NOT_FOUND if the agent never had it, the same for leases of others and for ids that do not exist
 */
export function requireLeaseKey({ actor }: Pick<Work, 'actor'>, lease_id: string) {
  const { agent_id } = actor;
  const fencing_token = readFencingToken(agent_id, lease_id);
  if (fencing_token === undefined) throw new DomainError('LEASE_NOT_FOUND', 'Your agent has no such lease.');
  return { agent_id, fencing_token };
}

/**
 * Locks the item of a current lease until the transaction ends, so that no other instance gets it. The last check of a write: whatever it
 * locks, such as a thread, is locked before the item.
 * @throws {DomainError} LEASE_NOT_FOUND, LEASE_LOST
 */
export async function requireCurrentLease(work: Work, lease_id: string): Promise<void> {
  if (!(await work.db.inboxLeases.lock(requireLeaseKey(work, lease_id)))) throw leaseLost();
}
