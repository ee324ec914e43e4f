import type { InboxItem } from '../core/records.ts';
import { ServiceError } from '../core/service-error.ts';
import type { Call } from '../core/state.ts';

/** The item of a current lease of the caller. */
export function findLease({ state, me }: Call, id: string): InboxItem | undefined {
  const item = me.leases.get(id);
  const isCurrent = item?.state === 'leased' && item.lease_id === id && item.expires_at > state.clock.now();
  return isCurrent && me.inbox?.items.includes(item) === true ? item : undefined;
}

/** @throws {ServiceError} LEASE_NOT_FOUND when the agent never had the lease, LEASE_LOST when it has ended */
export function requireLease(call: Call, id: string): InboxItem {
  if (!call.me.leases.has(id)) throw new ServiceError('LEASE_NOT_FOUND', 'Your agent has no such lease.');
  const item = findLease(call, id);
  if (item) return item;
  const message =
    'This lease has ended: it expired, was acknowledged or released, or was ended. Claim again.';
  throw new ServiceError('LEASE_LOST', message);
}
