import type { ApprovalRow } from '../../repositories/agents/approval-queries.ts';
import { type ApprovalAction, type ApprovalDecision } from '../../../packages/core/src/domain/approvals.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { isHandle, parseHandle } from '../../../packages/core/src/domain/agents/handles.ts';
import { isId, newId } from '../../../packages/core/src/domain/ids.ts';
import { toNoticeJob } from '../../../packages/core/src/domain/notifications.ts';
import { toVisibleLine } from '../../../packages/core/src/domain/visible-text.ts';
import type { IdempotencyClaim, ReadWork, SystemWork } from '../../work/unit-of-work.ts';
import {
  approvalMs,
  approvalNotFound,
  decideApproval,
  explainRefusal,
  type ReviewDetails,
} from './decide.ts';

/** A request of an agent for approval by its people. Times in milliseconds. */
export type Approval = ApprovalRow;

const maxPending = 50;
export const maxClientNameLength = 100;

export interface OpenApproval {
  agent_id: string;
  action: ApprovalAction;
  /** Handle of the target agent, in any form. */
  target: string;
  detail: {
    /** The message to the target. It is part of the approval: another message needs another approval. */
    message?: string | null | undefined;
    /** The client of the agent, as declared by the client. */
    client_name?: string | null | undefined;
  };
  /** The idempotency key of the call, which gets the answer when a person approves. */
  claim?: IdempotencyClaim | null;
}

/**
 * Requests approval for an action of an agent, for 24 hours. Repeating the request returns the same approval: while it is pending,
 * once it is approved until it is used, and once it is denied until the 24 hours end. The caller checks that the target exists.
 * @returns null if no approval is needed, because both agents have the same owner or organization.
 * @throws {DomainError} INVALID_HANDLE; RATE_LIMITED if 50 approvals of the agent are pending
 */
export async function openApproval(work: SystemWork, input: OpenApproval): Promise<Approval | null> {
  const { agent_id, detail } = input;
  const current = await findCurrentApproval(work, input);
  if (current !== undefined) return current;
  const {
    db: { approvals },
    now,
  } = work;
  const subject = toSubject(input);
  await approvals.expire(agent_id, now);
  await requirePendingQuota(work, agent_id);
  const client_name = toVisibleLine(detail.client_name ?? '', maxClientNameLength);
  const id = newId('approval');
  await approvals.insert(
    { ...subject, id, client_name, created_at: now, expires_at: now + approvalMs },
    input.claim ?? null,
  );
  work.changes.enqueue(toNoticeJob(agent_id, id));
  // A concurrent call may have inserted the same request; then that one is returned.
  const inserted = await approvals.findCurrent(subject, now);
  if (!inserted) throw new Error('the approval was not inserted');
  return inserted;
}

/**
 * Returns the current approval for an action.
 * @returns null if no approval is needed, undefined if none was requested.
 * @throws {DomainError} INVALID_HANDLE
 */
export async function findCurrentApproval(
  work: ReadWork,
  input: Omit<OpenApproval, 'detail' | 'claim'> & { detail: { message?: string | null | undefined } },
): Promise<Approval | null | undefined> {
  const subject = toSubject(input);
  const [target] = await work.db.agents.findSeen(subject.agent_id, [subject.target]);
  if (target?.same_owner || target?.same_organization) return null;
  return work.db.approvals.findCurrent(subject, work.now);
}

/**
 * Returns the answer of an approved call that has run, as JSON text, until its approval expires. The call is one that would now be refused
 * or change nothing.
 */
export async function findAnsweredCall(
  work: ReadWork,
  input: Parameters<typeof findCurrentApproval>[1],
): Promise<string | undefined> {
  // An id in place of the handle does not say what was approved.
  if (!isHandle(input.target.replace(/^@/, '').toLowerCase())) return undefined;
  return (await work.db.approvals.findAnswered(toSubject(input), work.now))?.answer ?? undefined;
}

function toSubject({ agent_id, action, target, detail }: Omit<OpenApproval, 'claim'>) {
  return { agent_id, action, target: parseHandle(target).canonical, message: detail.message ?? '' };
}

/** @throws {DomainError} RATE_LIMITED if 50 approvals of the agent are pending */
export async function requirePendingQuota(
  { db: { approvals }, now }: SystemWork,
  agent_id: string,
): Promise<void> {
  const { count, first_expiry } = await approvals.countPending(agent_id);
  if (count < maxPending) return;
  const retry_after = Math.max(1, Math.ceil(((first_expiry ?? now) - now) / 1_000));
  throw new DomainError(
    'RATE_LIMITED',
    `This agent has ${count} pending approvals; retry after one is decided.`,
    { retry_after },
  );
}

/**
 * Returns an approval that this agent requested.
 * @throws {DomainError} NOT_FOUND, also for another agent's
 */
export async function findApproval(work: ReadWork, agent_id: string, id: string): Promise<Approval> {
  const approval = isId('approval', id) ? await work.db.approvals.find(id, Date.now()) : undefined;
  if (approval?.agent_id !== agent_id) throw approvalNotFound();
  return approval;
}

/**
 * Returns an approval that was requested by an agent as which the person can act.
 * @throws {DomainError} NOT_FOUND, also for an approval of others
 */
export async function requireApprovalForPerson(
  work: ReadWork,
  account_id: string,
  id: string,
): Promise<Approval> {
  const isValidId = isId('approval', id);
  const approval = isValidId ? await work.db.approvals.findForPerson(account_id, id, Date.now()) : undefined;
  if (!approval) throw approvalNotFound();
  return approval;
}

/**
 * Returns the approvals requested by agents as which a person can act, newest first: pending ones, or decided and expired ones.
 * @param filter `before`: the id after which the list continues; `limit`: default 50.
 */
export function listApprovals(
  { db: { approvals } }: ReadWork,
  account_id: string,
  { pending, before = '', limit = 50 }: { pending: boolean; before?: string; limit?: number },
): Promise<Approval[]> {
  return approvals.listForPerson(account_id, Date.now(), { pending, before, limit });
}

/**
 * Decides an approval as a person who can act as its agent. An approval can be used for 24 hours from then on. Repeating the same
 * decision changes nothing.
 * @throws {DomainError} NOT_FOUND; INVALID_TRANSITION if it was decided otherwise, or expired
 */
export async function decideAsPerson(
  work: SystemWork,
  account_id: string,
  id: string,
  decision: ApprovalDecision,
  details: ReviewDetails = {},
): Promise<Approval> {
  await requireApprovalForPerson(work, account_id, id);
  await explainRefusal(() => decideApproval(work, id, decision, { via: 'page', account_id, ...details }));
  return requireApprovalForPerson(work, account_id, id);
}

/**
 * Decides an approval as an operator, without an account.
 * @throws {DomainError} as decideApproval
 */
export async function decideAsOperator(
  work: SystemWork,
  id: string,
  decision: ApprovalDecision,
): Promise<Approval> {
  if (!isId('approval', id)) throw approvalNotFound();
  await explainRefusal(() => decideApproval(work, id, decision, { via: 'operator' }));
  const approval = await work.db.approvals.find(id, work.now);
  if (!approval) throw approvalNotFound();
  return approval;
}

/**
 * Records the decision that a person made in the agent's client.
 * @throws {DomainError} as decideApproval
 */
export function decideInClient(
  work: SystemWork,
  approval: Pick<Approval, 'id'>,
  decision: ApprovalDecision,
  details: ReviewDetails = {},
): Promise<void> {
  return decideApproval(work, approval.id, decision, { via: 'program', ...details });
}

/** Returns the newest 100 approvals of an agent. */
export function listApprovalsOfAgent({ db: { approvals } }: ReadWork, agent_id: string): Promise<Approval[]> {
  return approvals.listOfAgent(agent_id, Date.now(), 100);
}
