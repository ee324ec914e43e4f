import { DomainError } from '../../domain/errors.ts';
import {
  type Approval,
  decideInClient,
  findApproval,
  findCurrentApproval,
  openApproval,
  useApproval,
} from '../../services/approvals/approvals.ts';
import { abortWhen } from '../../shared/wait-until.ts';
import type { UnitOfWork, Work } from '../../work/unit-of-work.ts';
import type { RateLimits } from '../rate-limits.ts';
import { type Approver, type CallContext, mayNeedApproval, type Stage } from './context.ts';
import { createClaim, findStoredAnswer } from './idempotency.ts';
import { consumeOwnBudget } from './rate-limit.ts';

/** The approval was used, or a relevant record changed, after it was read and before the transaction. The stage tries again. */
class StaleApproval extends Error {}

const maxAttempts = 4;
/** How often a pending approval is read while the client is asked. */
const pollIntervalMs = 1_000;

/**
 * Gets a person's approval for calls that need one (MCP). The question is stored before the person is asked, and is used in the transaction
 * that it allows: nothing runs twice, and a crash leaves both or neither. No transaction is open while a person decides.
 *
 * A call that asks a person, or needs no approval, counts against the operation's own budget. Checking on a pending approval does not.
 * @throws {DomainError} APPROVAL_DENIED, APPROVAL_REQUIRED, RATE_LIMITED
 */
export function createApproval(unitOfWork: UnitOfWork, limits: RateLimits): Stage {
  async function ask(approver: Approver, approval: Approval): Promise<Approval> {
    const { agent_id, id } = approval;
    const find = () => unitOfWork.readAsSystem((repositories) => findApproval(repositories, agent_id, id));
    const settled = abortWhen(async () => (await find()).state !== 'pending', pollIntervalMs);
    try {
      const decision = await approver.ask(approval, settled.signal);
      if (decision) await unitOfWork.writeAsSystem((work) => decideInClient(work, approval, decision));
    } catch (error) {
      // The approval was decided elsewhere first; that decision is final.
      if (!(error instanceof DomainError) || error.code !== 'INVALID_TRANSITION') throw error;
    } finally {
      settled.stop();
    }
    return find();
  }

  /** Returns the existing approval for this call, or opens one; null when none is needed. */
  async function findOrOpen(context: CallContext, approver: Approver): Promise<Approval | null> {
    const seen = await unitOfWork.read(context.call.actor, (work) => findQuestion(context, work));
    if (seen?.current) return seen.current;
    await consumeOwnBudget(limits, context);
    if (!seen) return null;
    const detail = { ...seen.question.detail, client_name: approver.client_name };
    const question = { ...seen.question, detail };
    return (await unitOfWork.writeAsSystem((work) => openApproval(work, question))) ?? null;
  }

  /** Returns an approval that can be used; null when none is needed. */
  async function obtain(context: CallContext, approver: Approver): Promise<Approval | null> {
    let approval = await findOrOpen(context, approver);
    if (!approval) return null;
    if (approval.state === 'pending') {
      approval = await ask(approver, approval);
      if (approval.state === 'approved' && approver.signal.aborted && approval.decided_via !== 'program') {
        throw approvalRequired(approval);
      }
      // The decision is stored; if the token has ended, the next call uses it.
      await approver.confirm();
    }
    if (approval.state === 'denied') throw approvalDenied(approval);
    if (approval.state !== 'approved') throw approvalRequired(approval);
    return approval;
  }

  return async function approval(context, next) {
    const { approver } = context.call;
    if (!approver || !mayNeedApproval(context.call)) return next();
    const claim = createClaim(context);
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const stored = claim && (await findStoredAnswer(unitOfWork, context, claim));
      if (stored) return stored;
      context.approval = await obtain(context, approver);
      try {
        return await next();
      } catch (error) {
        if (!(error instanceof StaleApproval)) throw error;
      }
    }
    throw new DomainError('UNAVAILABLE', 'Too many concurrent changes; retry.', { retry_after: 1 });
  };
}

/**
 * Uses the approval of the call in the transaction of its effect. It checks there again whether one is needed.
 * @throws when one is needed and there is none, or it was used; the approval stage then tries again.
 */
export async function useCallApproval(context: CallContext, work: Work): Promise<void> {
  if (!mayNeedApproval(context.call) || (await findQuestion(context, work)) === null) return;
  const { approval } = context;
  if (approval && (await useApproval(work, approval.agent_id, approval.id))) return;
  throw new StaleApproval();
}

/** What a person would be asked, with the current approval for it, if there is one; null when no approval is needed. */
async function findQuestion({ call, input }: CallContext, work: Work) {
  const rule = call.operation.approval;
  const subject = await rule?.subject(work, input);
  if (!rule || !subject) return null;
  const { target, message } = subject;
  const question = { agent_id: call.actor.agent_id, action: rule.action, target, detail: { message } };
  const current = await findCurrentApproval(work, question);
  return current === null ? null : { question, current };
}

function approvalDenied({ id, expires_at }: Approval): DomainError {
  const message = 'The person denied this. Do not ask again.';
  return new DomainError('APPROVAL_DENIED', message, { approval: { id, expires_at } });
}

function approvalRequired({ id, expires_at }: Approval): DomainError {
  const message =
    'A person must approve this first, on the page approval_url. Then call again with the same arguments.';
  return new DomainError('APPROVAL_REQUIRED', message, { approval: { id, expires_at } });
}
