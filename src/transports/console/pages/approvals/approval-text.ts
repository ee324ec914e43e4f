import type { Approval } from '../../../../services/approvals/approvals.ts';

/** What happens after approval. */
export function consequenceText({
  action,
  is_review: isReview,
}: Pick<Approval, 'action' | 'is_review'>): string {
  if (isReview)
    return 'Nothing has left yet. It is sent as it stands here; the order in a conversation is that of your approvals.';
  return action === 'request_contact'
    ? 'If the other side accepts, both can write to each other at any time. The message is sent with the request.'
    : 'Both sides lose the contact and are notified. A new contact request is needed to become contacts again.';
}

/** State labels. */
export const stateLabels = {
  pending: { label: 'Pending', tone: 'accent' },
  approved: { label: 'Approved', tone: 'good' },
  denied: { label: 'Denied', tone: 'danger' },
  expired: { label: 'Expired', tone: 'plain' },
} as const satisfies Record<Approval['state'], object>;

type Outcome = Pick<Approval, 'state' | 'used_at' | 'expires_at' | keyof Decision>;
type Decision = Pick<Approval, 'decided_via' | 'decided_by' | 'decided_by_agent'>;

/** The state of an approval in one or two sentences. */
export function outcomeText({ state, used_at, expires_at, ...decision }: Outcome, now = Date.now()): string {
  if (state === 'pending') return 'Waiting for a decision.';
  if (state === 'expired') return 'No one decided in time. The agent can ask again.';
  const by = deciderText(decision);
  if (state === 'denied') return `${by} denied it.`;
  if (used_at !== null) return `${by} approved it, and it was done.`;
  return expires_at > now
    ? `${by} approved it. The agent can repeat the call within 24 hours.`
    : `${by} approved it, but the agent did not repeat the call in time.`;
}

/** Who decided, as the subject of a sentence. */
function deciderText({ decided_via, decided_by, decided_by_agent }: Decision): string {
  if (decided_via === 'program') return 'The user of the app';
  if (decided_via === 'agent') return decided_by_agent === null ? 'Another agent' : `@${decided_by_agent}`;
  return decided_by ?? 'An operator';
}
