import type { ApprovalRow, StoredCall } from '../../repositories/agents/approval-queries.ts';
import type { ApprovalAction } from '../../../packages/core/src/domain/approvals.ts';
import { DomainError, mismatchedKey } from '../../../packages/core/src/domain/errors.ts';
import { newId } from '../../../packages/core/src/domain/ids.ts';
import { toNoticeJob } from '../../../packages/core/src/domain/notifications.ts';
import { toVisibleLine } from '../../../packages/core/src/domain/visible-text.ts';
import type { IdempotencyClaim, ReadWork, Work } from '../../work/unit-of-work.ts';
import { unsentLifetimeMs } from '../../../packages/core/src/domain/attachments/attachments.ts';
import { leaseLost, requireLeaseKey } from '../inbox/access.ts';
import { toLeaseId } from '../inbox/lease-ids.ts';
import { maxClientNameLength, requirePendingQuota } from './approvals.ts';
import { approvalDenied, approvalMs, toApprovalDetail } from './decide.ts';
import type { ReviewRequired } from './outgoing.ts';

/** A call that must be reviewed. */
export interface HeldCall {
  action: ApprovalAction;
  /** As the operation parsed it. */
  input: object;
  /** What a person reads: the texts, in their order; the files; and what else the other side would see, as one text. */
  shown: { texts: readonly string[]; attachment_ids: readonly string[]; about: string };
  /** The key of the call, or one of its own. */
  claim: IdempotencyClaim;
  client_name: string | null;
  /** Reviews of this call that the person has answered, in a program that repeats the call with the answer. */
  answered: readonly string[];
  /** A lease of the call, and whether the call ends it. */
  lease: { lease_id: string; ends: boolean } | null;
}

/**
 * Holds a call of the actor for its review, for 24 hours. Its files are kept as long, and an item that it would end has no lease meanwhile.
 * @throws {DomainError} RATE_LIMITED (50 approvals are pending), LEASE_NOT_FOUND, LEASE_LOST, IDEMPOTENCY_MISMATCH, APPROVAL_DENIED
 */
export async function holdForReview(
  work: Work,
  { recipients }: Pick<ReviewRequired, 'recipients'>,
  call: HeldCall,
): Promise<ApprovalRow> {
  const { action, shown, claim } = call;
  const {
    db: { approvals },
    actor: { agent_id },
    now,
  } = work;
  const files =
    shown.attachment_ids.length > 0 ? await work.db.attachments.listOwn(agent_id, shown.attachment_ids) : [];
  const names = files.map(({ filename, size_bytes: size }) => `file: ${filename}, ${size} bytes`);
  const message = [...shown.texts, shown.about, ...names].filter((text) => text !== '').join('\n\n');
  const { answered } = call;
  const answeredKey =
    answered.length > 0 ? await approvals.findReviewKey(agent_id, answered, claim.request_hash) : undefined;
  const current = await findReview(work, answeredKey ? { ...claim, key_hash: answeredKey } : claim);
  if (current) return current;
  const handles = recipients.map(({ canonical_handle }) => canonical_handle);
  const [target = ''] = handles;
  await approvals.expire(agent_id, now);
  await requirePendingQuota(work, agent_id);
  const id = newId('approval');
  const held: StoredCall = { input: await holdLease(work, id, call), shown };
  const client_name = toVisibleLine(call.client_name ?? '', maxClientNameLength);
  const about = { id, agent_id, action, target, message, recipients: handles, held, client_name };
  await approvals.insertReview({ ...about, created_at: now, expires_at: now + approvalMs }, claim);
  const review = await findReview(work, claim);
  if (!review) throw new Error('a review exists after it was inserted');
  if (review.id !== id) return review;
  if (shown.attachment_ids.length > 0)
    await work.db.attachments.keepUnsent(agent_id, shown.attachment_ids, now + approvalMs + unsentLifetimeMs);
  work.changes.enqueue(toNoticeJob(agent_id, id));
  return review;
}

/** A review as its page shows it. */
export interface Review extends Pick<HeldCall['shown'], 'texts' | 'about'> {
  /** Null for a call that starts something. */
  thread_id: string | null;
  files: readonly { id: string; filename: string; size_bytes: number }[];
}

/** Returns what a person reviews; null once it is decided. */
export async function readReview(
  { db }: ReadWork,
  { id, agent_id }: Pick<ApprovalRow, 'id' | 'agent_id'>,
): Promise<Review | null> {
  const held = await db.approvals.findHeld(id);
  if (!held) return null;
  const { texts, about, attachment_ids: ids } = held.shown;
  const { thread_id = null } = held.input as { thread_id?: string };
  return {
    texts,
    about,
    thread_id,
    files: ids.length > 0 ? await db.attachments.listOwn(agent_id, ids) : [],
  };
}

/** The input to store: with the lease of the review in place of the agent's. A lease that the call does not end is only checked. */
async function holdLease(work: Work, review_id: string, { input, lease }: HeldCall): Promise<object> {
  if (!lease) return input;
  const key = requireLeaseKey(work, lease.lease_id);
  if (!lease.ends) {
    if (!(await work.db.inboxLeases.find(key))) throw leaseLost();
    const { lease_id: _checked, ...rest } = input as { lease_id?: string };
    return rest;
  }
  const held = await work.db.inboxLeases.find(key);
  // In the order of a claim. When the review ends, its lease does.
  await work.db.inboxes.lock(key.agent_id);
  if (held?.task_id) await work.db.tasks.lock([held.task_id]);
  const token = await work.db.inboxLeases.holdForReview(key, { review_id, hold_ms: approvalMs });
  if (token === undefined) throw leaseLost();
  if (held?.task_id) await work.db.tasks.moveLease(held.task_id, key.fencing_token, token);
  return { ...input, lease_id: toLeaseId(key.agent_id, token) };
}

/**
 * Returns the review of the actor's call under this key, until it expires.
 * @throws {DomainError} IDEMPOTENCY_MISMATCH (another request), APPROVAL_DENIED
 */
export async function findReview(
  { db, now, actor, settings }: ReadWork & Pick<Work, 'actor'>,
  { key_hash, request_hash }: IdempotencyClaim,
): Promise<ApprovalRow | undefined> {
  const review = await db.approvals.findReview(actor.agent_id, key_hash, now);
  if (!review) return undefined;
  if (!review.request_hash.equals(request_hash)) throw mismatchedKey();
  if (review.state === 'denied') throw approvalDenied(review, settings);
  return review;
}

/** Returns the error for a call that waits for its review. */
export function reviewPending(review: ApprovalRow, settings: Work['settings']): DomainError {
  const approval = toApprovalDetail(review, settings);
  const message = `A person reviews this call first, at ${approval.url}. Nothing was sent. The call runs when the person approves; the event approval.resolved has the result. Do not send it again in other words.`;
  return new DomainError('APPROVAL_REQUIRED', message, { approval });
}
