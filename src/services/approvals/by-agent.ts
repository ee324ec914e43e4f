import type { ApprovalDecision, ApprovalState } from '../../domain/approvals.ts';
import { isId } from '../../domain/ids.ts';
import type { Work } from '../../work/unit-of-work.ts';
import { type PageRequest, readPage } from '../paging.ts';
import { approvalNotFound, decideApproval } from './decide.ts';

export interface ListAgentApprovals extends PageRequest {
  /** Only those that stand so. */
  state?: ApprovalState | undefined;
}

/** A page of what other agents ask for that only the same people act as, newest first; never what the actor asks for itself. */
export async function listAgentApprovals(work: Work, { state, ...page }: ListAgentApprovals) {
  const { rows, next_cursor } = await readPage(work, page, {
    binding: ['list_approvals', state ?? null],
    rows: (after: readonly [string] | null, limit) =>
      work.approvals.listForAgent(work.actor.agent_id, work.now, {
        state: state ?? null,
        before: after?.[0] ?? '',
        limit,
      }),
    position: ({ id }) => [id],
  });
  return { approvals: rows, next_cursor };
}

/**
 * Decides through an agent, for the people who act as it. What the actor asks for itself, and what others' agents ask for, is
 * refused in the words for one that is absent.
 * @throws {DomainError} NOT_FOUND; INVALID_TRANSITION when it was decided otherwise, or expired
 */
export async function decideAsAgent(work: Work, id: string, decision: ApprovalDecision) {
  const { agent_id } = work.actor;
  const find = async () => {
    const approval = isId('approval', id)
      ? await work.approvals.findForAgent(agent_id, id, work.now)
      : undefined;
    if (!approval) throw approvalNotFound();
    return approval;
  };
  await find();
  await decideApproval(work, id, decision, { via: 'agent', agent_id });
  return find();
}
