import type { ApprovalDecision, ApprovalVia } from '../../domain/approvals.ts';
import { DomainError } from '../../domain/errors.ts';
import type { SystemWork } from '../../work/unit-of-work.ts';

const dayMs = 24 * 60 * 60 * 1000;

export interface Decider {
  via: ApprovalVia;
  /** The person or the agent that decides, if known. */
  account_id?: string;
  agent_id?: string;
}

/**
 * Decides an approval; the caller checks permission. An approval can be used for 24 hours from then on; a denial lasts until the
 * request's own 24 hours end. Repeating the same decision changes nothing.
 * @throws {DomainError} NOT_FOUND; INVALID_TRANSITION if it was decided otherwise, or expired
 */
export async function decideApproval(
  { approvals, now, audit }: Pick<SystemWork, 'approvals' | 'now' | 'audit'>,
  id: string,
  decision: ApprovalDecision,
  { via, account_id, agent_id }: Decider,
): Promise<void> {
  const good_until = decision === 'approved' ? now + dayMs : 0;
  const by = { via, account_id: account_id ?? null, agent_id: agent_id ?? null, now, good_until };
  const isNew = await approvals.decide(id, decision, by);
  const approval = await approvals.find(id, now);
  if (!approval) throw approvalNotFound();
  if (isNew) {
    const detail = { approval_id: id, action: approval.action, decision, via };
    audit({ act: 'approval.decided', agent_id: approval.agent_id, about: approval.target, detail });
    return;
  }
  if (approval.state === decision) return;
  throw new DomainError('INVALID_TRANSITION', `This approval is already ${approval.state}.`);
}

/** Returns the error for an approval that is absent or belongs to others. */
export function approvalNotFound(): DomainError {
  return new DomainError('NOT_FOUND', 'No such approval, or you cannot decide it.');
}
