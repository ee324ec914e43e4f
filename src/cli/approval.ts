import { Argument, Command } from 'commander';
import { type ApprovalDecision, approvalDecisions } from '../../packages/core/src/domain/approvals.ts';
import { findAgentByHandle } from '../services/agents/find-by-handle.ts';
import { decideAsOperator, listApprovalsOfAgent } from '../services/approvals/approvals.ts';
import { reading, writing } from './actions.ts';
import type { CommandIo } from './io.ts';
import { resultCommand } from './output.ts';

/** `ams approval …` */
export function approvalCommand(io: CommandIo): Command {
  const list = resultCommand('list', 'list the newest 100 approvals of an agent')
    .argument('<handle>')
    .action(
      reading(
        io,
        async (work, handle: string) =>
          listApprovalsOfAgent(work, (await findAgentByHandle(work, handle)).id),
        'approvals',
      ),
    );

  const decide = resultCommand(
    'decide',
    'approve or deny an action in place of the people who manage the agent',
  )
    .argument('<id>')
    .addArgument(new Argument('<decision>', 'the decision').choices(approvalDecisions))
    .action(
      writing(io, (work, id: string, decision: ApprovalDecision) => decideAsOperator(work, id, decision)),
    );

  return new Command('approval').description('manage approvals').addCommand(list).addCommand(decide);
}
