import type { History, Lease, LeaseWrite } from '../history.ts';

/** The clocks of the service and of the instances may differ by this much, in milliseconds. */
const clockToleranceMs = 100;

/** Whether the service confirmed the write. */
export const isDone = ({ answers }: LeaseWrite): boolean => answers.some(({ lost }) => !lost);

/** Whether the write certainly had no effect. */
export const isRefused = ({ answers }: LeaseWrite): boolean => answers.some(({ lost }) => lost);

/** Whether a lease may have been acknowledged, or released, by a request that was sent at this time or before. */
export function mayHaveWritten(
  { writes }: Lease,
  wanted: 'acknowledge' | 'release',
  until = Number.POSITIVE_INFINITY,
): boolean {
  return writes.some((write) => write.kind === wanted && write.begun_at <= until && !isRefused(write));
}

/**
 * The earliest and the latest time at which a lease expires, with the renewals that were sent before `until`. A renewal without an answer, or
 * that was sent several times, may take effect at any later time, or never.
 */
export function expiryOf({ expires_at, writes }: Lease, until: number): { earliest: number; latest: number } {
  let last = expires_at;
  let uncertain = Number.POSITIVE_INFINITY;
  for (const { kind, begun_at, attempts, answers, lease_ms } of writes) {
    if (kind !== 'renew' || begun_at >= until) continue;
    for (const answer of answers) if (!answer.lost) last = answer.expires_at ?? last;
    if (answers.length === 0 || attempts > 1) uncertain = Math.min(uncertain, begun_at + lease_ms);
  }
  return {
    earliest: Math.min(last, uncertain) - clockToleranceMs,
    latest: (Number.isFinite(uncertain) ? Number.POSITIVE_INFINITY : last) + clockToleranceMs,
  };
}

/** Whether a lease may have ended at a time without an acknowledgement: it was released, it expired, or its agent left the thread. */
export function mayHaveEnded(lease: Lease, at: number, history: Pick<History, 'member_changes'>): boolean {
  return (
    expiryOf(lease, at).earliest <= at ||
    mayHaveWritten(lease, 'release', at) ||
    history.member_changes.some(
      ({ kind, member_id, thread_id, begun_at, acknowledged_at }) =>
        kind === 'removed' &&
        member_id === lease.agent_id &&
        thread_id === lease.thread_id &&
        begun_at <= at &&
        (acknowledged_at ?? at) >= lease.sent_at,
    )
  );
}
