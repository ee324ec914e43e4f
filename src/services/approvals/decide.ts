import { isDeepStrictEqual } from 'node:util';
import type { ApprovalRow } from '../../repositories/agents/approval-queries.ts';
import {
  type ApprovalDecision,
  type ApprovalVia,
  keepIds,
} from '../../../packages/core/src/domain/approvals.ts';
import { inboxTopic } from '../../../packages/core/src/domain/inbox.ts';
import { returnTasks } from '../tasks/transitions.ts';
import type { Actor } from '../../../packages/core/src/domain/auth/actor.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import type { SystemWork } from '../../work/unit-of-work.ts';

/** How long an approval waits for a person, and how long it can be used after the decision (ms). */
export const approvalMs = 24 * 60 * 60 * 1000;

/** What a person adds to a decision about a review. */
export interface ReviewDetails {
  /** Why it was denied: the agent gets it. */
  reason?: string | null | undefined;
  /** The texts of the call, perhaps edited, in their order. Absent: as the agent wrote them. */
  texts?: readonly string[] | undefined;
  /** Whether nothing that goes to these recipients needs a review from now on. */
  trust?: boolean | undefined;
}

export interface Decider extends ReviewDetails {
  via: ApprovalVia;
  /** The person or the agent that decides, if known. */
  account_id?: string;
  agent_id?: string;
}

/**
 * Decides an approval; the caller checks permission. Approving runs the call of the agent in this transaction, under its idempotency key. If
 * the call is refused, nothing changes. A denial lasts until the request's own 24 hours end. Repeating the same decision without texts
 * changes nothing.
 * @throws {DomainError} NOT_FOUND; INVALID_TRANSITION if it was decided otherwise, or expired; the refusal of the call
 */
export async function decideApproval(
  work: SystemWork,
  id: string,
  decision: ApprovalDecision,
  { via, account_id, agent_id, reason, ...review }: Decider,
): Promise<void> {
  const {
    db: { approvals },
    now,
  } = work;
  const good_until = decision === 'approved' ? now + approvalMs : 0;
  const by = {
    via,
    account_id: account_id ?? null,
    agent_id: agent_id ?? null,
    now,
    good_until,
    reason: (decision === 'denied' && reason) || null,
  };
  const isNew = await approvals.decide(id, decision, by);
  const approval = await approvals.find(id, now);
  if (!approval) throw approvalNotFound();
  if (isNew) {
    const detail = { approval_id: id, action: approval.action, decision, via };
    work.changes.audit({
      act: 'approval.decided',
      agent_id: approval.agent_id,
      about: approval.target,
      detail,
    });
    const answer =
      decision === 'approved' ? await runCall(work, approval, review) : await returnItem(work, approval);
    emitResolved(work, approval, answer);
    return;
  }
  // Other texts can have been sent.
  if (approval.state === decision && review.texts === undefined) return;
  throw new DomainError('INVALID_TRANSITION', `This approval is already ${approval.state}.`);
}

/**
 * Runs the call as the agent that asked, and stores its answer, that of a reviewed call under its key only, where a withdrawal finds it.
 * @returns the answer; of a reviewed call only the ids in it, because events stay as they are
 * @throws {DomainError} the refusal of the call
 */
async function runCall(
  work: SystemWork,
  { id, agent_id, action, target, message, is_review: isReview, recipients }: ApprovalRow,
  { texts, trust = false }: ReviewDetails,
): Promise<string> {
  const agent = await work.db.agents.find(agent_id);
  if (!agent) throw approvalNotFound();
  const held = isReview ? await work.db.approvals.findHeld(id) : null;
  const edited = isDeepStrictEqual(texts, held?.shown.texts) ? undefined : texts;
  const actor: Actor = {
    agent_id,
    handle: agent.canonical_handle,
    owner_id: agent.owner_id,
    scopes: new Set([
      'contacts:read',
      'contacts:write',
      ...(isReview ? ['threads:read', 'threads:write'] : []),
    ]),
    review: { handles: isReview ? recipients : [target], is_edited: edited !== undefined },
    client_id: 'approval',
    resource: '',
    expires_at: work.now,
    token_id: '',
  };
  if (isReview && trust) await trustRecipients(work, agent_id, recipients);
  const answer = await work.settings.runApproved(
    { ...work, actor },
    { action, target, message, input: held?.input, texts: edited },
  );
  await work.db.approvals.storeAnswer(id, isReview ? null : answer, work.now);
  const claim = await work.db.approvals.findClaim(id);
  const isStored =
    !claim || (await work.db.idempotencyKeys.insertUnlessTaken({ ...claim, answer, created_at: work.now }));
  // It waits for a call under this key that is not committed yet: one of both stays.
  if (isReview && !isStored) throw sentMeanwhile();
  return isReview ? JSON.stringify(keepIds(JSON.parse(answer))) : answer;
}

/** A repeated call under the key of a review needed none any more. */
function sentMeanwhile(): DomainError {
  const message = 'It was sent meanwhile: it no longer needed a review. Nothing was changed.';
  return new DomainError('INVALID_TRANSITION', message);
}

async function trustRecipients(
  work: SystemWork,
  agent_id: string,
  handles: readonly string[],
): Promise<void> {
  const agents = await work.db.agents.findSeen(agent_id, handles);
  const ids = agents.map(({ id }) => id);
  await work.db.outgoingClearances.insert({ agent_id, ids, thread_id: '', now: work.now });
  work.changes.audit({ act: 'agent.changed', agent_id, detail: { trusts: handles.join(', ') } });
}

/**
 * A denied call of a review stays unsent: the item of its reply is ready again, with the reason.
 * @throws {DomainError} INVALID_TRANSITION
 */
async function returnItem(
  work: SystemWork,
  { id, agent_id, reason, is_review: isReview }: ApprovalRow,
): Promise<null> {
  if (!isReview) return null;
  const claim = await work.db.approvals.findClaim(id);
  if (claim && (await work.db.idempotencyKeys.find(claim.key_hash))) throw sentMeanwhile();
  const fencing_token = await work.db.inboxLeases.findOfReview(agent_id, id);
  if (fencing_token === undefined) return null;
  const key = { agent_id, fencing_token };
  const lease = await work.db.inboxLeases.find(key);
  // The task is locked before the item.
  if (lease?.task_id) await returnTasks(work, [lease]);
  const why = `A person rejected the reply.${reason === null ? '' : ` ${reason}`}`;
  await work.db.inboxLeases.release(key, { delay_ms: 0, reason: why });
  work.changes.publish({ topic: inboxTopic, body: agent_id });
  return null;
}

function emitResolved(work: SystemWork, approval: ApprovalRow, answer: string | null): void {
  const { id: approval_id, agent_id, action, target, state, decided_via, reason } = approval;
  const result: unknown = answer === null ? null : JSON.parse(answer);
  const data = {
    approval_id,
    action,
    target,
    decision: state,
    decided_at: work.now,
    decided_via,
    reason,
    result,
  };
  work.changes.emit({ type: 'approval.resolved', recipients: [agent_id], data });
}

/**
 * Says why an approved call is no longer possible, to the person who decides.
 * @throws {DomainError} INVALID_TRANSITION in place of a refusal of the call
 */
export async function explainRefusal<T>(decide: () => Promise<T>): Promise<T> {
  try {
    return await decide();
  } catch (error) {
    const isRefusal = error instanceof DomainError && error.status < 500;
    if (!isRefusal || error.code === 'INVALID_TRANSITION' || error.code === 'NOT_FOUND') throw error;
    const message = `The action is no longer possible, and nothing was changed: ${error.message}`;
    throw new DomainError('INVALID_TRANSITION', message, { cause: error });
  }
}

/** The approval page, where the people of the agent decide. */
export const approvalUrl = (public_url: string, id: string): string =>
  `${public_url}/console/approvals/${id}`;

/** An approval as errors name it. */
export const toApprovalDetail = (
  { id, expires_at }: Pick<ApprovalRow, 'id' | 'expires_at'>,
  { publicUrl }: Pick<SystemWork['settings'], 'publicUrl'>,
) => ({ id, expires_at, url: approvalUrl(publicUrl, id) });

/** Returns the error for a call that a person denied, with the reason. */
export function approvalDenied(
  approval: ApprovalRow,
  settings: Pick<SystemWork['settings'], 'publicUrl'>,
): DomainError {
  const { reason } = approval;
  const why = reason === null ? '' : ` The reason: ${reason}`;
  return new DomainError('APPROVAL_DENIED', `A person denied this call. Do not repeat it.${why}`, {
    approval: toApprovalDetail(approval, settings),
  });
}

/** Returns the error for an approval that is absent or belongs to others. */
export function approvalNotFound(): DomainError {
  return new DomainError('NOT_FOUND', 'No such approval, or you cannot decide it.');
}
