import { Argument, Command } from 'commander';
import { type ApprovalDecision, approvalDecisions } from '../domain/approvals.ts';
import { findAgentByHandle } from '../services/agents/find-by-handle.ts';
import { decideAsOperator, listApprovalsOfAgent } from '../services/approvals/approvals.ts';
import { printResult, resultCommand } from './output.ts';
import { withCore } from './core.ts';
import type { CommandIo } from './io.ts';

/** `ams approval …` */
export function approvalCommand(io: CommandIo): Command {
  const list = resultCommand('list', 'what an agent asks its people for, newest first; at most 100')
    .argument('<handle>')
    .action(async (handle: string, options: { json?: boolean }) => {
      const approvals = await withCore(io, ({ unitOfWork }) =>
        unitOfWork.readAsSystem(async (repositories) =>
          listApprovalsOfAgent(repositories, (await findAgentByHandle(repositories, handle)).id),
        ),
      );
      printResult(io, options, options.json ? { approvals } : approvals);
    });

  const decide = resultCommand('decide', 'decide in place of the people behind an agent')
    .argument('<id>')
    .addArgument(new Argument('<decision>').choices(approvalDecisions))
    .action(async (id: string, decision: ApprovalDecision, options: { json?: boolean }) => {
      const approval = await withCore(io, ({ unitOfWork }) =>
        unitOfWork.writeAsSystem((work) => decideAsOperator(work, id, decision)),
      );
      printResult(io, options, approval);
    });

  return new Command('approval')
    .description('what agents may do only when a person agrees')
    .addCommand(list)
    .addCommand(decide);
}
