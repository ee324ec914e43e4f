import { toCanonicalJson } from '../../../../core/src/domain/canonical-json.ts';
import { DomainError, mismatchedKey } from '../../../../core/src/domain/errors.ts';
import { listReviewed } from '../../../../core/src/policies/reviews.ts';
import type { Agent, Approval, Thread } from '../core/records.ts';
import { holdLease } from '../core/inbox.ts';
import type { Call } from '../core/state.ts';
import { ownerOf } from './agents.ts';
import { addApproval, stateOf } from './approvals.ts';
import { othersOf } from './thread-records.ts';

/** A person must review a message before it leaves. */
export class ReviewRequired extends DomainError {
  override name = 'ReviewRequired';
  readonly recipients: string[];
  readonly content: string;

  constructor(recipients: string[], content: string) {
    super('APPROVAL_REQUIRED', 'A person must review this before it leaves.');
    this.recipients = recipients;
    this.content = content;
  }
}

/** Checks a message that nothing else refuses by the outgoing policy of its sender. @throws {ReviewRequired} */
export function requireReviewed(
  call: Call,
  thread: Thread,
  { content, attachment_ids: ids }: { content: string; attachment_ids: readonly string[] },
): void {
  const { me } = call;
  const cleared = thread.messages.some(({ sender_id }) => sender_id === me.id);
  const outsiders = othersOf(call, thread)
    .filter((other: Agent) => ownerOf(other) !== ownerOf(me))
    .map(({ id, canonical_handle }) => ({ id, canonical_handle, trusted: false, cleared }));
  const reviewed = listReviewed(me.outgoing_policy, outsiders, { has_files: ids.length > 0 });
  const handles = reviewed.map(({ canonical_handle }) => canonical_handle);
  if (handles.every((handle) => call.reviewed?.includes(handle))) return;
  throw new ReviewRequired(handles, content);
}

/** A call that must be reviewed. */
interface HeldCall {
  action: Approval['action'];
  input: object;
  key: string | undefined;
  /** Runs it after the approval of what goes to these handles. */
  run(reviewed: readonly string[]): Promise<object>;
}

/** Holds a call for its review. @returns the error for its caller: a repeated call gets that of its review */
export function holdForReview(
  { state, me }: Call,
  { recipients, content }: ReviewRequired,
  { action, input, key, run }: HeldCall,
): DomainError {
  const request = toCanonicalJson(input);
  const approvals = [...state.approvals.values()];
  const earlier = approvals.findLast(
    (one) =>
      key !== undefined && one.agent === me && one.held?.key === key && one.expires_at > state.clock.now(),
  );
  if (earlier && earlier.held?.request !== request) return mismatchedKey();
  const [target = ''] = recipients;
  const about = { action, target, message: content, is_review: true, recipients };
  const review = earlier ?? addApproval(state, me, { ...about, held: { key, request, run } });
  if (!earlier && action === 'acknowledge_message') holdLease(me, review, input);
  const { id, expires_at, reason, ...approval } = review;
  const detail = { approval: { id, expires_at, url: `${state.url}/console/approvals/${id}` } };
  if (stateOf(state, { ...approval, expires_at }) === 'denied') {
    const why = reason === null ? '' : ` The reason: ${reason}`;
    return new DomainError('APPROVAL_DENIED', `A person denied this call. Do not repeat it.${why}`, detail);
  }
  const message = `A person reviews this call first, at ${detail.approval.url}. Nothing was sent.`;
  return new DomainError('APPROVAL_REQUIRED', message, detail);
}
