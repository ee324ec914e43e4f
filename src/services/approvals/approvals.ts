import { type ApprovalAction, type ApprovalDecision } from '../../domain/approvals.ts';
import { DomainError } from '../../domain/errors.ts';
import { parseHandle } from '../../domain/agents/handles.ts';
import { isId, newId } from '../../domain/ids.ts';
import { toVisibleLine } from '../../shared/visible-text.ts';
import type { SystemWork } from '../../work/unit-of-work.ts';
import { approvalNotFound, decideApproval } from './decide.ts';

type Approvals = Pick<SystemWork, 'approvals'>;

/** A question that an agent's call put to its people. Times in milliseconds. */
export type Approval = NonNullable<Awaited<ReturnType<Approvals['approvals']['find']>>>;

const dayMs = 24 * 60 * 60 * 1000;
const maxPending = 50;
const maxClientNameLength = 100;

export interface OpenApproval {
  agent_id: string;
  action: ApprovalAction;
  /** Handle of the agent that it is about, in any form. */
  target: string;
  detail: {
    /** What the agent wants to say there. Part of what is approved: with another message it is another question. */
    message?: string | null | undefined;
    /** The program through which the agent asks, as it calls itself. */
    client_name?: string | null | undefined;
  };
}

/**
 * Asks the people behind an agent whether it may do something; they have 24 hours. Asked again meanwhile, it is the same question,
 * and once it is decided the answer: an approval until it is used, a denial until the 24 hours are over, so that nobody is asked
 * again and again. Whether there is such an agent as `target` is for the caller to find out first.
 * @returns null when nobody need be asked: both agents have the same owner or organization.
 * @throws {DomainError} INVALID_HANDLE; RATE_LIMITED when 50 questions of the agent wait already
 */
export async function openApproval(work: SystemWork, input: OpenApproval): Promise<Approval | null> {
  const { agent_id, detail } = input;
  const before = await findCurrentApproval(work, input);
  if (before !== undefined) return before;
  const { approvals, now } = work;
  const subject = toSubject(input);
  await approvals.expire(agent_id, now);
  await requirePendingQuota(work, agent_id);
  const client_name = toVisibleLine(detail.client_name ?? '', maxClientNameLength);
  const id = newId('approval');
  await approvals.insert({ ...subject, id, client_name, created_at: now, expires_at: now + dayMs });
  // Another call may have asked the same at the same time: then that question stands.
  const asked = await approvals.findCurrent(subject, now);
  if (!asked) throw new Error('the approval was not inserted');
  return asked;
}

/**
 * How the question stands already.
 * @returns null when nobody need be asked, undefined when nobody was.
 * @throws {DomainError} INVALID_HANDLE
 */
export async function findCurrentApproval(
  work: Pick<SystemWork, 'agents' | 'approvals' | 'now'>,
  input: Omit<OpenApproval, 'detail'> & { detail: { message?: string | null | undefined } },
): Promise<Approval | null | undefined> {
  const subject = toSubject(input);
  const [kin] = await work.agents.findSeen(subject.agent_id, [subject.target]);
  if (kin?.same_owner || kin?.same_organization) return null;
  return work.approvals.findCurrent(subject, work.now);
}

function toSubject({ agent_id, action, target, detail }: OpenApproval) {
  return { agent_id, action, target: parseHandle(target).canonical, message: detail.message ?? '' };
}

async function requirePendingQuota({ approvals, now }: SystemWork, agent_id: string): Promise<void> {
  const { count, first_expiry } = await approvals.countPending(agent_id);
  if (count < maxPending) return;
  const retry_after = Math.max(1, Math.ceil(((first_expiry ?? now) - now) / 1_000));
  throw new DomainError('RATE_LIMITED', `${count} approvals of this agent wait already.`, { retry_after });
}

/**
 * An approval that this agent asked for.
 * @throws {DomainError} NOT_FOUND, also for another agent's
 */
export async function findApproval(work: Approvals, agent_id: string, id: string): Promise<Approval> {
  const approval = isId('approval', id) ? await work.approvals.find(id, Date.now()) : undefined;
  if (approval?.agent_id !== agent_id) throw approvalNotFound();
  return approval;
}

/**
 * Uses an approval for what was approved, once.
 * @returns whether it was there to be used.
 */
export function useApproval({ approvals, now }: SystemWork, agent_id: string, id: string): Promise<boolean> {
  return approvals.use(agent_id, id, now);
}

/**
 * An approval that an agent asks for which the person acts as. Others' are refused in the words for one that is absent.
 * @throws {DomainError} NOT_FOUND
 */
export async function requireApprovalForPerson(
  work: Approvals,
  account_id: string,
  id: string,
): Promise<Approval> {
  const known = isId('approval', id);
  const approval = known ? await work.approvals.findForPerson(account_id, id, Date.now()) : undefined;
  if (!approval) throw approvalNotFound();
  return approval;
}

/**
 * What the agents that a person acts as ask for, newest first: those that wait, or those that are decided or expired.
 * @param only `before` is the id behind which the list goes on; `limit` is 50 unless told.
 */
export function listApprovals(
  { approvals }: Approvals,
  account_id: string,
  { pending, before = '', limit = 50 }: { pending: boolean; before?: string; limit?: number },
): Promise<Approval[]> {
  return approvals.listForPerson(account_id, Date.now(), { pending, before, limit });
}

/**
 * Decides as a person who acts as the agent that asks. What is approved can be used for 24 hours from then on. To decide the same
 * once more changes nothing.
 * @throws {DomainError} NOT_FOUND; INVALID_TRANSITION when it was decided otherwise, or expired
 */
export async function decideAsPerson(
  work: SystemWork,
  account_id: string,
  id: string,
  decision: ApprovalDecision,
): Promise<Approval> {
  await requireApprovalForPerson(work, account_id, id);
  await decideApproval(work, id, decision, { via: 'page', account_id });
  return requireApprovalForPerson(work, account_id, id);
}

/**
 * Decides as an operator, for whom no account stands.
 * @throws {DomainError} as decideApproval
 */
export async function decideAsOperator(
  work: SystemWork,
  id: string,
  decision: ApprovalDecision,
): Promise<Approval> {
  if (!isId('approval', id)) throw approvalNotFound();
  await decideApproval(work, id, decision, { via: 'operator' });
  const approval = await work.approvals.find(id, work.now);
  if (!approval) throw approvalNotFound();
  return approval;
}

/**
 * Notes what a person answered in the program through which the agent asked.
 * @throws {DomainError} as decideApproval
 */
export function decideInClient(
  work: SystemWork,
  approval: Pick<Approval, 'id'>,
  decision: ApprovalDecision,
): Promise<void> {
  return decideApproval(work, approval.id, decision, { via: 'program' });
}

/** The newest approvals of an agent, for operators. */
export function listApprovalsOfAgent({ approvals }: Approvals, agent_id: string): Promise<Approval[]> {
  return approvals.listOfAgent(agent_id, Date.now(), 100);
}
