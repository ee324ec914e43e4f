import { system } from '../../packages/core/src/domain/auth/audit.ts';
import { Argument, Command } from 'commander';
import { type ApprovalDecision, approvalDecisions } from '../../packages/core/src/domain/approvals.ts';
import { findAgentByHandle } from '../services/agents/find-by-handle.ts';
import { decideAsOperator, listApprovalsOfAgent } from '../services/approvals/approvals.ts';
import { printResult, resultCommand } from './output.ts';
import { withCore, operator } from './core.ts';
import type { CommandIo } from './io.ts';

/** `ams approval …` */
export function approvalCommand(io: CommandIo): Command {
  const list = resultCommand('list', 'list the newest 100 approvals of an agent')
    .argument('<handle>')
    .action(async (handle: string, options: { json?: boolean }) => {
      const approvals = await withCore(io, ({ unitOfWork }) =>
        unitOfWork.read(system, async (work) =>
          listApprovalsOfAgent(work, (await findAgentByHandle(work, handle)).id),
        ),
      );
      printResult(io, options, options.json ? { approvals } : approvals);
    });

  const decide = resultCommand(
    'decide',
    'approve or deny an action in place of the people who manage the agent',
  )
    .argument('<id>')
    .addArgument(new Argument('<decision>').choices(approvalDecisions))
    .action(async (id: string, decision: ApprovalDecision, options: { json?: boolean }) => {
      const approval = await withCore(io, ({ unitOfWork }) =>
        unitOfWork.write(operator(), (work) => decideAsOperator(work, id, decision)),
      );
      printResult(io, options, approval);
    });

  return new Command('approval').description('manage approvals').addCommand(list).addCommand(decide);
}
