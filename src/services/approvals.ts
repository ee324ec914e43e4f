import { type ApprovalAction, type ApprovalDecision } from '../domain/approvals.ts';
import { DomainError } from '../domain/errors.ts';
import { parseHandle } from '../domain/handles.ts';
import { isId, newId } from '../domain/ids.ts';
import type { Administration } from '../unit-of-work.ts';

type Approvals = Pick<Administration, 'approvals'>;

/** A question that an agent's call put to its people. Times in milliseconds. */
export type Approval = NonNullable<Awaited<ReturnType<Approvals['approvals']['find']>>>;

const day = 24 * 60 * 60 * 1000;
const mostPending = 50;
const longestClientName = 100;

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
export async function openApproval(work: Administration, input: OpenApproval): Promise<Approval | null> {
  const { agent_id, action, detail } = input;
  const target = parseHandle(input.target).canonical;
  const [kin] = await work.agents.findSeen(agent_id, [target]);
  if (kin?.same_owner || kin?.same_organization) return null;

  const { approvals, now } = work;
  const subject = { agent_id, action, target, message: detail.message ?? '' };
  const before = await approvals.findCurrent(subject, now);
  if (before) return before;
  await approvals.expire(agent_id, now);
  await requireRoom(work, agent_id);
  const client_name = (detail.client_name ?? '').slice(0, longestClientName);
  const id = newId('approval');
  await approvals.insert({ ...subject, id, client_name, created_at: now, expires_at: now + day });
  // Another call may have asked the same at the same time: then that question stands.
  const asked = await approvals.findCurrent(subject, now);
  if (!asked) throw new Error('the approval was not inserted');
  return asked;
}

async function requireRoom({ approvals, now }: Administration, agent_id: string): Promise<void> {
  const { count, first_expiry } = await approvals.countPending(agent_id);
  if (count < mostPending) return;
  const retry_after = Math.max(1, Math.ceil(((first_expiry ?? now) - now) / 1_000));
  throw new DomainError('RATE_LIMITED', `${count} approvals of this agent wait already.`, { retry_after });
}

/**
 * An approval that this agent asked for.
 * @throws {DomainError} NOT_FOUND, also for another agent's
 */
export async function findApproval(work: Approvals, agent_id: string, id: string): Promise<Approval> {
  const approval = isId('approval', id) ? await work.approvals.find(id, Date.now()) : undefined;
  if (approval?.agent_id !== agent_id) throw noSuchApproval();
  return approval;
}

/**
 * Uses an approval for what was approved, once.
 * @returns whether it was there to be used.
 */
export function useApproval(
  { approvals, now }: Administration,
  agent_id: string,
  id: string,
): Promise<boolean> {
  return approvals.use(agent_id, id, now);
}

/**
 * An approval that an agent asks for which the person acts as. Others' are refused in the words for one that is absent.
 * @throws {DomainError} NOT_FOUND
 */
export async function approvalForPerson(work: Approvals, account_id: string, id: string): Promise<Approval> {
  const known = isId('approval', id);
  const approval = known ? await work.approvals.findForPerson(account_id, id, Date.now()) : undefined;
  if (!approval) throw noSuchApproval();
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
export async function decideApproval(
  work: Administration,
  account_id: string,
  id: string,
  decision: ApprovalDecision,
): Promise<Approval> {
  await approvalForPerson(work, account_id, id);
  await settle(work, account_id, id, decision);
  return approvalForPerson(work, account_id, id);
}

/**
 * Decides as an operator, for whom no account stands.
 * @throws {DomainError} as decideApproval
 */
export async function decideForOperator(
  work: Administration,
  id: string,
  decision: ApprovalDecision,
): Promise<Approval> {
  if (!isId('approval', id)) throw noSuchApproval();
  await settle(work, null, id, decision);
  const approval = await work.approvals.find(id, work.now);
  if (!approval) throw noSuchApproval();
  return approval;
}

async function settle(
  { approvals, now }: Administration,
  account_id: string | null,
  id: string,
  decision: ApprovalDecision,
): Promise<void> {
  // A denial ends with the question's own 24 hours.
  const good_until = decision === 'approved' ? now + day : 0;
  if (await approvals.decide(id, decision, { account_id, now, good_until })) return;
  const settled = await approvals.find(id, now);
  if (!settled) throw noSuchApproval();
  if (settled.state === decision) return;
  throw new DomainError('INVALID_TRANSITION', `This approval is ${settled.state} already.`);
}

/** The newest approvals of an agent, for operators. */
export function listApprovalsOf({ approvals }: Approvals, agent_id: string): Promise<Approval[]> {
  return approvals.listOfAgent(agent_id, Date.now(), 100);
}

function noSuchApproval(): DomainError {
  return new DomainError('NOT_FOUND', 'No such approval, or it is not yours to decide.');
}
