import { Argument, Command } from 'commander';
import { type ApprovalDecision, approvalDecisions } from '../domain/approvals.ts';
import { agentByHandle } from '../services/agent-by-handle.ts';
import { decideForOperator, listApprovalsOf } from '../services/approvals.ts';
import { printResult, resultCommand } from './command.ts';
import { withCore } from './core.ts';
import type { CommandIo } from './io.ts';

/** `ams approval …` */
export function approvalCommand(io: CommandIo): Command {
  const list = resultCommand('list', 'what an agent asks its people for, newest first; at most 100')
    .argument('<handle>')
    .action(async (handle: string, options: { json?: boolean }) => {
      const approvals = await withCore(io, ({ unitOfWork }) =>
        unitOfWork.consult(async (repositories) =>
          listApprovalsOf(repositories, (await agentByHandle(repositories, handle)).id),
        ),
      );
      printResult(io, options, options.json ? { approvals } : approvals);
    });

  const decide = resultCommand('decide', 'decide in place of the people behind an agent')
    .argument('<id>')
    .addArgument(new Argument('<decision>').choices(approvalDecisions))
    .action(async (id: string, decision: ApprovalDecision, options: { json?: boolean }) => {
      const approval = await withCore(io, ({ unitOfWork }) =>
        unitOfWork.administer((work) => decideForOperator(work, id, decision)),
      );
      printResult(io, options, approval);
    });

  return new Command('approval')
    .description('what agents may do only when a person agrees')
    .addCommand(list)
    .addCommand(decide);
}
