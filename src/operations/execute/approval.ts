import { system } from '../../../packages/core/src/domain/auth/audit.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import {
  type Approval,
  decideInClient,
  findAnsweredCall,
  findApproval,
  findCurrentApproval,
  openApproval,
} from '../../services/approvals/approvals.ts';
import { approvalDenied, toApprovalDetail } from '../../services/approvals/decide.ts';
import { abortWhen } from '../../shared/wait-until.ts';
import type { UnitOfWork, Work } from '../../work/unit-of-work.ts';
import type { RateLimits } from '../rate-limits.ts';
import {
  type Answer,
  type Approver,
  type CallContext,
  mayNeedApproval,
  type Run,
  type Stage,
} from './context.ts';
import { createClaim, findStoredAnswer } from './idempotency.ts';
import { consumeOwnBudget } from './rate-limit.ts';

/** A relevant record changed after it was read and before the transaction. The stage tries again. */
class NeedsApproval extends Error {}

const maxAttempts = 4;
/** How often a pending approval is read while the client is asked. */
const pollIntervalMs = 1_000;

/** Creates what asks the person in the client for a stored approval, until it is decided anywhere. It returns the approval as it is then. */
export function createAsk(unitOfWork: UnitOfWork) {
  return async function ask(approver: Approver, approval: Approval): Promise<Approval> {
    const { agent_id, id } = approval;
    const find = () => unitOfWork.read(system, (work) => findApproval(work, agent_id, id));
    const settled = abortWhen(async () => (await find()).state !== 'pending', pollIntervalMs);
    try {
      const decision = await approver.ask(approval, settled.signal);
      if (decision) await unitOfWork.write(system, (work) => decideInClient(work, approval, decision));
    } catch (error) {
      // The approval was decided elsewhere first; that decision is final.
      if (!(error instanceof DomainError) || error.code !== 'INVALID_TRANSITION') throw error;
    } finally {
      settled.stop();
    }
    return find();
  };
}

/**
 * Gets a person's approval for calls that need one (MCP). The question is stored with the idempotency key of the call before the person is
 * asked. The call runs in the transaction of the decision: a crash leaves both or neither. No transaction is open while a person decides.
 *
 * A call that asks a person, or needs no approval, counts against the operation's own budget. Checking on a pending approval does not.
 * @throws {DomainError} APPROVAL_DENIED, APPROVAL_REQUIRED, RATE_LIMITED; the refusal of the call
 */
export function createApproval(unitOfWork: UnitOfWork, limits: RateLimits): Stage {
  const ask = createAsk(unitOfWork);

  /** The existing approval for this call, or a new one; the answer, if the call has run; null when it needs no approval. */
  async function findOrOpen(context: CallContext, approver: Approver): Promise<Approval | string | null> {
    const found = await unitOfWork.read(context.call.actor, (work) => findCall(context, work));
    if (typeof found === 'string') return found;
    if (found?.current) return found.current;
    await consumeOwnBudget(unitOfWork, limits, context);
    if (!found) return null;
    const detail = { ...found.question.detail, client_name: approver.client_name };
    const question = { ...found.question, detail, claim: createClaim(context) };
    return (await unitOfWork.write(system, (work) => openApproval(work, question))) ?? null;
  }

  /** The answer of the call, which runs when a person approves; null when it needs no approval. */
  async function obtain(context: CallContext, approver: Approver): Promise<string | null> {
    const found = await findOrOpen(context, approver);
    if (found === null || typeof found === 'string') return found;
    let approval = found;
    if (approval.state === 'pending') {
      approval = await ask(approver, approval);
      // If the token has ended, the next call gets the answer.
      await approver.confirm();
    }
    if (approval.state === 'denied') throw approvalDenied(approval, unitOfWork.settings);
    if (approval.answer === null) throw approvalRequired(approval, unitOfWork.settings);
    return approval.answer;
  }

  return function approval(operation, next) {
    return operation.approval ? (context) => approve(context, next) : next;
  };

  async function approve(context: CallContext, next: Run): Promise<Answer> {
    const { approver } = context.call;
    if (!approver) return next(context);
    const claim = createClaim(context);
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const stored = claim && (await findStoredAnswer(unitOfWork, context, claim));
      if (stored) return stored;
      const answer = await obtain(context, approver);
      if (answer !== null) return { body: answer, output: JSON.parse(answer), replayed: false };
      try {
        return await next(context);
      } catch (error) {
        if (!(error instanceof NeedsApproval)) throw error;
      }
    }
    throw new DomainError('UNAVAILABLE', 'Too many concurrent changes; retry.', { retry_after: 1 });
  }
}

/**
 * Checks again, in the transaction of the call, that it needs no approval.
 * @throws when it needs one; the approval stage then tries again.
 */
export async function requireNoApproval(context: CallContext, work: Work): Promise<void> {
  if (mayNeedApproval(context.call) && (await findQuestion(context, work)) !== null)
    throw new NeedsApproval();
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

/** As `findQuestion`; the answer of the call, if it has run and would now be refused or change nothing. */
async function findCall(context: CallContext, work: Work) {
  const { call, input } = context;
  const findAnswer = async () => {
    const rule = call.operation.approval;
    if (!rule) return undefined;
    const { target, message } = rule.named(input);
    return findAnsweredCall(work, {
      agent_id: call.actor.agent_id,
      action: rule.action,
      target,
      detail: { message },
    });
  };
  try {
    let question = await findQuestion(context, work);
    // A decision between the reads of the subject and of the approval has run the call: read both again.
    if (question && !question.current) question = await findQuestion(context, work);
    return question ?? (await findAnswer()) ?? null;
  } catch (error) {
    const answer = error instanceof DomainError && error.status < 500 ? await findAnswer() : undefined;
    if (answer === undefined) throw error;
    return answer;
  }
}

function approvalRequired(approval: Approval, settings: Work['settings']): DomainError {
  const message =
    'A person must approve this call first, at approval_url. The call runs when the person approves; the event approval.resolved has the result.';
  return new DomainError('APPROVAL_REQUIRED', message, { approval: toApprovalDetail(approval, settings) });
}
