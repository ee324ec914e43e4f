/** The time that decides about leases, in milliseconds: that of the database, because the clocks of processes differ. */
export const leaseClock = 'lease_clock()';

/** For `inbox_items i`: whether its lease is over, although nothing has ended it yet. */
export const isExpired = `i.state = 'leased' and i.expires_at <= ${leaseClock}`;

/** For `inbox_items i`: its state after an attempt that did not end with an acknowledgement. */
export const endedState = (maxAttempts: string): string =>
  `case when i.attempts >= ${maxAttempts} then 'dead' else 'ready' end`;

/** For `inbox_items i`: its state as the clock shows it. */
export const stateNow = `case when ${isExpired} then ${endedState('(select max_attempts from inboxes where agent_id = i.agent_id)')} else i.state end`;

/** The attempt of `inbox_items i` that ends at a time, as one element of `reasons`. */
export const endedAttempt = (outcome: string, reason: string, endedAt = leaseClock): string =>
  `jsonb_build_array(jsonb_build_object('attempt', i.attempts, 'outcome', ${outcome}, 'reason', ${reason}, 'consumer', i.consumer, 'ended_at', ${endedAt}))`;

/** The attempt of `inbox_items i` whose lease expired. It ended when the lease did, whenever that is noticed. */
export const expiredAttempt = endedAttempt(
  `'expired'`,
  `case when i.review_id is null then null else 'No person reviewed the reply in time.' end`,
  'i.expires_at',
);
