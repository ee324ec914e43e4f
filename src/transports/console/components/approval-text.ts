import type { Approval } from '../../../services/approvals/approvals.ts';

/** What happens after approval. */
export function consequenceText({
  action,
  is_review: isReview,
}: Pick<Approval, 'action' | 'is_review'>): string {
  if (isReview)
    return 'Nothing was sent yet. It is sent as shown here; the order in a conversation is that of your approvals.';
  return action === 'request_contact'
    ? 'If the other side accepts, both can write to each other at any time. The message is sent with the request.'
    : 'Both sides lose the contact and are notified. A new contact request is needed to become contacts again.';
}

/** After a decision that can be undone. It stays true while the page is open. */
export const undoHint = 'Your answer takes effect after five seconds. Until then you can undo it.';

/** Badges of the states. */
export const stateBadges = {
  pending: ['accent', 'Pending'],
  approved: ['good', 'Approved'],
  denied: ['danger', 'Denied'],
  expired: ['plain', 'Expired'],
} as const satisfies Record<Approval['state'], object>;
