import type { ComponentChildren } from 'preact';
import { describeWish } from '../../../../packages/core/src/domain/approvals.ts';
import type { ShownApproval } from '../views/results.ts';
import type { Fact } from './content.tsx';
import { sizeText, Time } from './rows.tsx';

type Shown = Omit<ShownApproval, 'url'>;

type WishProps = Parameters<typeof describeWish>[0] & Pick<Shown, 'agent_display_name'>;

/** An agent and its wish, as a sentence. */
export const Wish = (wish: WishProps) => (
  <>
    <bdi>{wish.agent_display_name}</bdi> wants to {describeWish(wish)}
  </>
);

/** What a person decides on, besides the agent that asks. @param name shows a handle */
export const approvalFacts = (
  { is_review: isReview, recipients, target, reason, client_name, created_at }: Shown,
  files: ShownApproval['files'] = [],
  name: (handle: string) => ComponentChildren,
): (Fact | false)[] => [
  ...(isReview ? recipients : [target]).map((handle): Fact => ['Other agent', name(handle)]),
  ...files.map((file): Fact => ['File', <bdi>{`${file.filename}, ${sizeText(file.size_bytes)}`}</bdi>]),
  reason !== null && ['Reason', <bdi>{reason}</bdi>],
  client_name !== '' && ['App, name not verified', <bdi>{client_name}</bdi>],
  ['Requested', <Time at={created_at} />],
];

/** The label of one of the texts of a review. */
export const textLabel = (at: number, count: number): string =>
  count > 1 ? `Message ${at + 1} of ${count}` : 'Message';

/** What happens after approval. */
export function consequenceText({
  action,
  is_review: isReview,
}: Pick<Shown, 'action' | 'is_review'>): string {
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
} as const satisfies Record<Shown['state'], object>;
