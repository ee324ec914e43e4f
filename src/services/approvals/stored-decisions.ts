import type { ApprovalDecision } from '../../../packages/core/src/domain/approvals.ts';
import { authorFromPerson, system } from '../../../packages/core/src/domain/auth/audit.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import type { SystemWork, UnitOfWork } from '../../work/unit-of-work.ts';
import { decideAsPerson, requireApprovalForPerson } from './approvals.ts';
import type { ReviewDetails } from './decide.ts';

/** How long a person can take a decision of the console back (ms). */
export const undoMs = 5_000;

/**
 * Stores the decision of a person, which takes effect five seconds later. Until then the approval is pending: a decision through an agent
 * or a program takes effect at once, in place of this one. It does not expire meanwhile. Repeating the decision changes nothing.
 * @throws {DomainError} NOT_FOUND; INVALID_TRANSITION if it was decided otherwise, or expired
 */
export async function storeDecision(
  work: SystemWork,
  account_id: string,
  id: string,
  decision: ApprovalDecision,
  { reason, texts, trust }: ReviewDetails = {},
): Promise<void> {
  const { state, stored } = await requireApprovalForPerson(work, account_id, id);
  const isSame = stored?.decision === decision && stored.account_id === account_id;
  if (state === decision || isSame) return;
  const details = { account_id, decision, reason, texts, trust };
  const times = { now: work.now, effective_at: work.now + undoMs };
  if (await work.db.approvals.storeDecision(id, details, times)) return;
  const message =
    state === 'pending'
      ? 'A person has just decided this. The decision takes effect within seconds.'
      : `This approval is already ${state}.`;
  throw new DomainError('INVALID_TRANSITION', message);
}

/**
 * Takes the decision of this person back, if it has not taken effect.
 * @throws {DomainError} NOT_FOUND; INVALID_TRANSITION
 */
export async function undoDecision(work: SystemWork, account_id: string, id: string): Promise<void> {
  await requireApprovalForPerson(work, account_id, id);
  if (await work.db.approvals.undoDecision(id, account_id)) return;
  throw new DomainError('INVALID_TRANSITION', 'It is too late to undo this: the decision has taken effect.');
}

/**
 * Carries out the stored decisions that are due, each in a transaction of its own. One that is refused is removed, and the approval keeps the
 * reason. After another error it is tried again by the next call.
 * @param now time in milliseconds
 * @returns the errors of those that are tried again
 */
export async function applyDecisions(unitOfWork: UnitOfWork, now: number): Promise<unknown[]> {
  const due = await unitOfWork.read(system, ({ db }) => db.approvals.listDueDecisions(now, maxDecisions));
  const errors: unknown[] = [];
  for (const { id, account_id } of due) {
    try {
      await unitOfWork.write(authorFromPerson({ account_id }), (work) => applyDecision(work, id, now));
    } catch (error) {
      if (!(error instanceof DomainError) || error.status >= 500) errors.push(error);
      else await unitOfWork.write(system, ({ db }) => db.approvals.failDecision(id, toFailure(error), now));
    }
  }
  return errors;
}

const maxDecisions = 100;

const toFailure = ({ code, message }: DomainError): object => ({
  failure: code === 'NOT_FOUND' ? lostRight : message,
});

/** It does not say who decided: the others may not know this person. */
const lostRight =
  'A person decided this, but lost the right to decide before the decision took effect. Decide again.';

/** The person's rights, and those of the agent, are those of now. */
async function applyDecision(work: SystemWork, id: string, now: number): Promise<void> {
  const stored = await work.db.approvals.takeDecision(id, now);
  if (!stored) return;
  const { account_id, decision, ...details } = stored;
  await decideAsPerson(work, account_id, id, decision, details);
}
