import type { Actor } from '../../domain/auth/actor.ts';
import type { ApprovalDecision } from '../../domain/approvals.ts';
import { DomainError } from '../../domain/errors.ts';
import {
  type Approval,
  decideInClient,
  findApproval,
  openApproval,
  findCurrentApproval,
  useApproval,
} from '../../services/approvals/approvals.ts';
import type { UnitOfWork, Work } from '../../work/unit-of-work.ts';
import type { ApprovalRule } from '../define.ts';
import { abortWhen } from '../../shared/wait-until.ts';

/** How a face asks the person behind its caller. */
export interface Approver {
  /** The program that the person uses, as it calls itself. */
  client_name: string | null;
  /** Aborts when nobody waits for the answer of the call any more. */
  signal: AbortSignal;
  /**
   * Asks, as far as the program can, and waits for a limited time.
   * @param settled aborts when somebody decides elsewhere meanwhile.
   * @returns undefined when the person did not decide there.
   */
  ask(approval: Approval, settled: AbortSignal): Promise<ApprovalDecision | undefined>;
  /** A person has thought for a while: whether the caller may still do what it may at the start. @throws {DomainError} UNAUTHORIZED */
  confirm(): Promise<void>;
}

export interface ApprovedCall<T> {
  rule: ApprovalRule;
  actor: Actor;
  input: unknown;
  approver: Approver;
  /** Takes the call from the operation's own budget. What only looks how a question stands is not taken from it. */
  consume(): Promise<void>;
  /** The answer of an earlier call under the same idempotency key. */
  findStoredAnswer(): Promise<T | undefined>;
  /** Runs the operation; `gate` goes first in its transaction. */
  write(gate: (work: Work) => Promise<void>): Promise<T>;
}

/** Not a refusal: the approval was used, or the world changed, between the look and the transaction. It is looked at anew. */
class StaleApproval extends Error {}

const maxAttempts = 4;
/** How often a pending approval is read while the client is asked. */
const pollIntervalMs = 1_000;

/**
 * Runs calls that people have to approve (mcp.md, section 5). The question is a row before it is asked, and is used in the same
 * transaction as what it allows: nothing runs twice, and a crash leaves both or neither. While a person thinks, no transaction is
 * open.
 */
export function createApprovalStage(unitOfWork: UnitOfWork) {
  /** Null when nobody need be asked; the approval is undefined when nobody was yet. */
  async function look(
    { rule, actor, input }: Pick<ApprovedCall<unknown>, 'rule' | 'actor' | 'input'>,
    work: Work,
  ) {
    const about = await rule.subject(work, input);
    if (!about) return null;
    const { target, message } = about;
    const question = { agent_id: actor.agent_id, action: rule.action, target, detail: { message } };
    const standing = await findCurrentApproval(work, question);
    return standing === null ? null : { question, standing };
  }

  async function ask(approver: Approver, approval: Approval): Promise<Approval> {
    const { agent_id, id } = approval;
    const find = () => unitOfWork.readAsSystem((all) => findApproval(all, agent_id, id));
    const settled = abortWhen(async () => (await find()).state !== 'pending', pollIntervalMs);
    try {
      const decision = await approver.ask(approval, settled.signal);
      if (decision) await unitOfWork.writeAsSystem((work) => decideInClient(work, approval, decision));
    } catch (error) {
      // Somebody decided otherwise before: that decision stands.
      if (!(error instanceof DomainError) || error.code !== 'INVALID_TRANSITION') throw error;
    } finally {
      settled.stop();
    }
    return find();
  }

  /** Ends with an approval that can be used, or null when none is needed. @throws {DomainError} APPROVAL_DENIED, APPROVAL_REQUIRED */
  async function obtained<T>(call: ApprovedCall<T>, pay: () => Promise<void>): Promise<Approval | null> {
    const { actor, approver } = call;
    const seen = await unitOfWork.read(actor, (work) => look(call, work));
    if (!seen) {
      await pay();
      return null;
    }
    let approval = seen.standing;
    if (!approval) {
      await pay();
      const { client_name } = approver;
      const { question } = seen;
      const detail = { ...question.detail, client_name };
      approval =
        (await unitOfWork.writeAsSystem((work) => openApproval(work, { ...question, detail }))) ?? undefined;
      if (!approval) return null;
    }
    if (approval.state === 'pending') {
      approval = await ask(approver, approval);
      if (approval.state === 'approved' && approver.signal.aborted && approval.decided_via !== 'program') {
        throw approvalRequired(approval);
      }
      // What was decided stands: the next call uses it.
      await approver.confirm();
    }
    if (approval.state === 'denied') throw approvalDenied(approval);
    if (approval.state !== 'approved') throw approvalRequired(approval);
    return approval;
  }

  return async function approved<T>(call: ApprovedCall<T>): Promise<T> {
    let paid = false;
    const pay = async () => {
      if (paid) return;
      paid = true;
      await call.consume();
    };
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const before = await call.findStoredAnswer();
      if (before !== undefined) return before;
      const approval = await obtained(call, pay);
      try {
        return await call.write(async (work) => {
          if ((await look(call, work)) === null) return;
          if (approval && (await useApproval(work, approval.agent_id, approval.id))) return;
          throw new StaleApproval();
        });
      } catch (error) {
        if (!(error instanceof StaleApproval)) throw error;
      }
    }
    throw new DomainError('UNAVAILABLE', 'Too much changed meanwhile; try again.', { retry_after: 1 });
  };
}

function approvalDenied({ id, expires_at }: Approval): DomainError {
  const message = 'The person who was asked said no. Do not ask again.';
  return new DomainError('APPROVAL_DENIED', message, { approval: { id, expires_at } });
}

function approvalRequired({ id, expires_at }: Approval): DomainError {
  const message =
    'A person has to approve this first, on the page approval_url. Then call again with the same arguments.';
  return new DomainError('APPROVAL_REQUIRED', message, { approval: { id, expires_at } });
}
