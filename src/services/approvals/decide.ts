import type { ApprovalRow } from '../../repositories/agents/approval-queries.ts';
import type { ApprovalDecision, ApprovalVia } from '../../../packages/core/src/domain/approvals.ts';
import type { Actor } from '../../../packages/core/src/domain/auth/actor.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import type { SystemWork } from '../../work/unit-of-work.ts';

const dayMs = 24 * 60 * 60 * 1000;

export interface Decider {
  via: ApprovalVia;
  /** The person or the agent that decides, if known. */
  account_id?: string;
  agent_id?: string;
}

/**
 * Decides an approval; the caller checks permission. Approving runs the call of the agent in this transaction, under its idempotency key. If
 * the call is refused, nothing changes. A denial lasts until the request's own 24 hours end. Repeating the same decision changes nothing.
 * @throws {DomainError} NOT_FOUND; INVALID_TRANSITION if it was decided otherwise, or expired; the refusal of the call
 */
export async function decideApproval(
  work: SystemWork,
  id: string,
  decision: ApprovalDecision,
  { via, account_id, agent_id }: Decider,
): Promise<void> {
  const {
    db: { approvals },
    now,
  } = work;
  const good_until = decision === 'approved' ? now + dayMs : 0;
  const by = { via, account_id: account_id ?? null, agent_id: agent_id ?? null, now, good_until };
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
    const answer = decision === 'approved' ? await runCall(work, approval) : null;
    emitResolved(work, approval, answer);
    return;
  }
  if (approval.state === decision) return;
  throw new DomainError('INVALID_TRANSITION', `This approval is already ${approval.state}.`);
}

/** Runs the call as the agent that asked, and stores its answer. @throws {DomainError} the refusal of the call */
async function runCall(
  work: SystemWork,
  { id, agent_id, action, target, message }: ApprovalRow,
): Promise<string> {
  const agent = await work.db.agents.find(agent_id);
  if (!agent) throw approvalNotFound();
  const actor: Actor = {
    agent_id,
    handle: agent.canonical_handle,
    owner_id: agent.owner_id,
    scopes: new Set(['contacts:read', 'contacts:write']),
    client_id: 'approval',
    resource: '',
    expires_at: work.now,
    token_id: '',
  };
  await work.db.approvals.use(agent_id, id, work.now);
  const answer = await work.settings.runApproved({ ...work, actor }, { action, target, message });
  await work.db.approvals.storeAnswer(id, answer);
  const claim = await work.db.approvals.findClaim(id);
  if (claim) await work.db.idempotencyKeys.insertUnlessTaken({ ...claim, answer, created_at: work.now });
  return answer;
}

function emitResolved(work: SystemWork, approval: ApprovalRow, answer: string | null): void {
  const { id: approval_id, agent_id, action, target, state, decided_via } = approval;
  const result: unknown = answer === null ? null : JSON.parse(answer);
  const data = { approval_id, action, target, decision: state, decided_at: work.now, decided_via, result };
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

/** Returns the error for an approval that is absent or belongs to others. */
export function approvalNotFound(): DomainError {
  return new DomainError('NOT_FOUND', 'No such approval, or you cannot decide it.');
}
