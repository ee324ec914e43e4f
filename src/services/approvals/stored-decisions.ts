import type { RequestDecision, StoredDecision } from '../../repositories/stored-decisions.ts';
import type { ApprovalDecision } from '../../../packages/core/src/domain/approvals.ts';
import { authorFromPerson, system } from '../../../packages/core/src/domain/auth/audit.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import type { ReadWork, SystemWork, UnitOfWork } from '../../work/unit-of-work.ts';
import { createServiceActor } from '../agents/service-actor.ts';
import {
  approveRequest,
  lockRequest,
  rejectRequest,
  requestNotFound,
} from '../contacts/request-decisions.ts';
import { consoleClientId, requireAgentOfPerson } from '../people/agents.ts';
import { decideAsPerson, requireApprovalForPerson } from './approvals.ts';
import type { ReviewDetails } from './decide.ts';

/** How long a person can take a decision of the console back (ms). */
export const undoMs = 5_000;

/**
 * Stores the decision of a person, which takes effect five seconds later. Until then the approval is pending: a decision through an agent
 * or a program takes effect at once, in place of this one. It does not expire meanwhile. Repeating the same decision changes nothing.
 * @returns whether it can be undone: false if it took effect before
 * @throws {DomainError} NOT_FOUND; INVALID_TRANSITION if it was decided otherwise, or with other details, or expired
 */
export async function storeDecision(
  work: SystemWork,
  account_id: string,
  id: string,
  decision: ApprovalDecision,
  { reason, texts, trust }: ReviewDetails = {},
): Promise<boolean> {
  const { state } = await requireApprovalForPerson(work, account_id, id);
  if (state === decision) return false;
  const details = { account_id, decision, reason, texts, trust };
  const times = { now: work.now, effective_at: work.now + undoMs };
  if (await work.db.approvals.storeDecision(id, details, times)) return true;
  if (state === 'pending') throw decidedBefore();
  throw new DomainError('INVALID_TRANSITION', `This approval is already ${state}.`);
}

/**
 * Stores the answer of a person to a contact request, as storeDecision. Until it takes effect, the request is pending for both agents.
 * The caller checks that the person acts as the agent.
 * @param agent_id the agent that received the request
 * @param ref as for approveRequest
 * @returns whether it can be undone: false if the request was decided like this before
 * @throws {DomainError} REQUEST_NOT_FOUND, also if it was decided otherwise; INVALID_TRANSITION if another person has just decided it
 */
export async function storeAnswer(
  work: SystemWork,
  agent_id: string,
  ref: string,
  answer: { account_id: string; decision: RequestDecision },
): Promise<boolean> {
  const { request_id, status } = await lockRequest(work, ref, agent_id);
  if (status === answer.decision) return false;
  if (status !== 'pending') throw requestNotFound();
  const stored = { ...answer, agent_id };
  if (await work.db.contactRequests.storeDecision(request_id, stored, work.now + undoMs)) return true;
  throw decidedBefore();
}

const decidedBefore = () =>
  new DomainError(
    'INVALID_TRANSITION',
    'A person has just decided this. That decision takes effect within seconds. This one was not stored.',
  );

/**
 * Takes the decision of this person back, if it has not taken effect. Repeating it changes nothing.
 * @throws {DomainError} NOT_FOUND; INVALID_TRANSITION
 */
export async function undoDecision(work: SystemWork, account_id: string, id: string): Promise<void> {
  await requireApprovalForPerson(work, account_id, id);
  if (!(await work.db.approvals.undoDecision(id, account_id))) throw tooLate();
}

/**
 * Takes the answer of this person back, as undoDecision. The caller checks that the person acts as the agent.
 * @throws {DomainError} REQUEST_NOT_FOUND, also if it was withdrawn meanwhile; INVALID_TRANSITION
 */
export async function undoAnswer(
  work: SystemWork,
  agent_id: string,
  ref: string,
  account_id: string,
): Promise<void> {
  const { request_id } = await lockRequest(work, ref, agent_id);
  if (!(await work.db.contactRequests.undoDecision(request_id, account_id))) throw tooLate();
}

const tooLate = () =>
  new DomainError('INVALID_TRANSITION', 'It is too late to undo this: the decision has taken effect.');

/** Returns the answers to requests to an agent that have not taken effect, and why some could not be carried out, by request. */
export async function listAnswers({ db: { contactRequests } }: ReadWork, agent_id: string) {
  const rows = await contactRequests.listStored(agent_id);
  return new Map(rows.map(({ request_id, stored }) => [request_id, stored]));
}

/**
 * Carries out the stored decisions that are due, each in a transaction of its own. One that is refused is removed, and the approval or the
 * request keeps the reason. After another error it is tried again by the next call.
 * @param now time in milliseconds
 * @returns the errors of those that are tried again
 */
export async function applyDecisions(unitOfWork: UnitOfWork, now: number): Promise<unknown[]> {
  const errors: unknown[] = [];
  for (const { table, apply } of kinds) {
    const due = await unitOfWork.read(system, ({ db }) => db[table].listDueDecisions(now, maxDecisions));
    for (const { id, stored } of due) {
      try {
        await unitOfWork.write(authorFromPerson(stored), (work) => apply(work, id, stored, now));
      } catch (error) {
        if (!isRefusal(error)) errors.push(error);
        else await unitOfWork.write(system, ({ db }) => db[table].failDecision(id, toFailure(error), now));
      }
    }
  }
  return errors;
}

const maxDecisions = 100;

/** The kinds of stored decisions. The person's rights, and those of the agent, are those of now. */
const kinds = [
  { table: 'approvals', apply: applyDecision },
  { table: 'contactRequests', apply: applyAnswer },
] as const;

const isRefusal = (error: unknown): error is DomainError =>
  error instanceof DomainError && (error.status < 500 || error.code === 'AGENT_PAUSED');

/** A request that was withdrawn, or whose sender is blocked now, needs no reason: the person does not see it. */
function toFailure({ code, message }: DomainError): { failure: string } | null {
  if (code === 'REQUEST_NOT_FOUND') return null;
  if (code === 'NOT_FOUND' || code === 'AGENT_NOT_FOUND') return { failure: lostRight };
  if (code === 'AGENT_PAUSED') return { failure: paused };
  return { failure: message };
}

/** It does not say who decided: the others may not know this person. */
const lostRight =
  'A person decided this, but lost the right to decide before the decision took effect. Decide again.';
const paused = 'The agent was paused before the decision took effect. Decide again when it is resumed.';

async function applyDecision(work: SystemWork, id: string, { account_id }: StoredDecision, now: number) {
  const stored = await work.db.approvals.takeDecision(id, now);
  if (!stored) return;
  const { decision, ...details } = stored;
  await decideAsPerson(work, account_id, id, decision, details);
}

async function applyAnswer(
  work: SystemWork,
  id: string,
  { account_id, agent_id = '' }: StoredDecision,
  now: number,
) {
  const agent = await requireAgentOfPerson(work, account_id, agent_id, 'acts_as');
  // The pair is locked before the row, as everywhere.
  await lockRequest(work, id, agent_id);
  const stored = await work.db.contactRequests.takeDecision(id, now);
  if (!stored) return;
  const actor = { ...createServiceActor(agent, consoleClientId), account_id };
  await (stored.decision === 'approved' ? approveRequest : rejectRequest)({ ...work, actor }, id);
}
