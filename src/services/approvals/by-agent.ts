import type { ApprovalDecision, ApprovalState } from '../../../packages/core/src/domain/approvals.ts';
import { isId } from '../../../packages/core/src/domain/ids.ts';
import type { Work } from '../../work/unit-of-work.ts';
import { type PageRequest, readPage } from '../paging.ts';
import { approvalNotFound, decideApproval, explainRefusal, type ReviewDetails } from './decide.ts';

export interface ListAgentApprovals extends PageRequest {
  /** Only approvals in this state. */
  state?: ApprovalState | undefined;
}

/** Returns a page of the approvals of other agents as which only the same people act, newest first; never the actor's own. */
export async function listAgentApprovals(work: Work, { state, ...page }: ListAgentApprovals) {
  return readPage(work, page, {
    binding: ['list_approvals', state ?? null],
    rows: (after: readonly [string] | null, limit) =>
      work.db.approvals.listForAgent(work.actor.agent_id, work.now, {
        state: state ?? null,
        before: after?.[0] ?? '',
        limit,
      }),
    position: ({ id }) => [id],
  });
}

/**
 * Decides an approval through an agent, for the people who act as it.
 * @throws {DomainError} NOT_FOUND, also for approvals of the actor itself and of other people's agents; INVALID_TRANSITION if it was
 * decided otherwise, or expired
 */
export async function decideAsAgent(
  work: Work,
  id: string,
  decision: ApprovalDecision,
  details: ReviewDetails = {},
) {
  const { agent_id } = work.actor;
  const find = async () => {
    const approval = isId('approval', id)
      ? await work.db.approvals.findForAgent(agent_id, id, work.now)
      : undefined;
    if (!approval) throw approvalNotFound();
    return approval;
  };
  await find();
  await explainRefusal(() => decideApproval(work, id, decision, { via: 'agent', agent_id, ...details }));
  return find();
}
