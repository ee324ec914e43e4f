import type { InboxItem } from '../core/records.ts';
import { DomainError } from '../../../../core/src/domain/errors.ts';
import type { Call } from '../core/state.ts';

/** The item of a current lease of the caller. */
export function findLease({ state, me }: Call, id: string): InboxItem | undefined {
  const item = me.leases.get(id);
  const isCurrent = item?.state === 'leased' && item.lease_id === id && item.expires_at > state.clock.now();
  return isCurrent && me.inbox?.items.includes(item) === true ? item : undefined;
}

/** @throws {DomainError} LEASE_NOT_FOUND when the agent never had the lease, LEASE_LOST when it has ended */
export function requireLease(call: Call, id: string): InboxItem {
  if (!call.me.leases.has(id)) throw new DomainError('LEASE_NOT_FOUND', 'Your agent has no such lease.');
  const item = findLease(call, id);
  if (item) return item;
  const message =
    'This lease has ended: it expired, was acknowledged or released, or its token, agent or thread ended it. Nothing was written; claim again.';
  throw new DomainError('LEASE_LOST', message);
}
