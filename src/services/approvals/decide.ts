import type { ApprovalDecision, ApprovalVia } from '../../domain/approvals.ts';
import { DomainError } from '../../domain/errors.ts';
import type { SystemWork } from '../../work/unit-of-work.ts';

const dayMs = 24 * 60 * 60 * 1000;

export interface Decider {
  via: ApprovalVia;
  /** The person who decides, or the agent: whoever is known. */
  account_id?: string;
  agent_id?: string;
}

/**
 * Decides. What is approved can be used for 24 hours from then on; a denial ends with the question's own 24 hours. To decide the
 * same once more changes nothing. A step of every way to decide, behind the check that the decider may.
 * @throws {DomainError} NOT_FOUND; INVALID_TRANSITION when it was decided otherwise, or expired
 */
export async function decideApproval(
  { approvals, now, audit }: Pick<SystemWork, 'approvals' | 'now' | 'audit'>,
  id: string,
  decision: ApprovalDecision,
  { via, account_id, agent_id }: Decider,
): Promise<void> {
  const good_until = decision === 'approved' ? now + dayMs : 0;
  const by = { via, account_id: account_id ?? null, agent_id: agent_id ?? null, now, good_until };
  const fresh = await approvals.decide(id, decision, by);
  const settled = await approvals.find(id, now);
  if (!settled) throw approvalNotFound();
  if (fresh) {
    const detail = { approval_id: id, action: settled.action, decision, via };
    audit({ act: 'approval.decided', agent_id: settled.agent_id, about: settled.target, detail });
    return;
  }
  if (settled.state === decision) return;
  throw new DomainError('INVALID_TRANSITION', `This approval is ${settled.state} already.`);
}

/** The refusal for an approval that is absent, and for one of others. */
export function approvalNotFound(): DomainError {
  return new DomainError('NOT_FOUND', 'No such approval, or it is not yours to decide.');
}
