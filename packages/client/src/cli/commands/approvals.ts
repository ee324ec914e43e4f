import { Command } from 'commander';
import type { Approval } from '../../generated/approvals.ts';
import { createContext } from '../context.ts';
import type { CommandIo } from '../io.ts';
import { type Output, toPlainLine } from '../output.ts';

/** `am approvals`, and the decisions */
export function approvalsCommand(io: CommandIo): Command {
  return new Command('approvals')
    .description('list the approvals of other agents of your owner')
    .option('--all', 'also what was decided or expired')
    .addHelpText(
      'after',
      '\nThe token needs the scope approvals:write.\n\nExamples:\n  $ am approvals\n  $ am approvals approve apr_01K…\n  $ am approvals deny apr_01K… --reason "Ask legal first."',
    )
    .action(async ({ all }: { all?: true }, command: Command) => {
      const { client, output } = createContext(io, command);
      const { approvals } = await client();
      for await (const approval of approvals.list(all ? {} : { state: 'pending' })) show(output, approval);
    })
    .addCommand(
      new Command('approve')
        .description('approve an action, which is then carried out')
        .argument('<approval>', 'apr_…')
        .action(async (approval_id: string, _options: object, command: Command) => {
          const { client, output } = createContext(io, command);
          show(output, await (await client()).approvals.approve({ approval_id }));
        }),
    )
    .addCommand(
      new Command('deny')
        .description('deny an action')
        .argument('<approval>', 'apr_…')
        .option('--reason <text>', 'why, for the agent that asked')
        .action(async (approval_id: string, { reason }: { reason?: string }, command: Command) => {
          const { client, output } = createContext(io, command);
          show(output, await (await client()).approvals.deny({ approval_id, reason }));
        }),
    );
}

/** One line: what it is, who asked, and the message to the other agent. */
function show(output: Output, approval: Approval): void {
  const { id, agent, action, target, message, state } = approval;
  const text = message === '' ? '' : `: ${toPlainLine(message)}`;
  const parties = `${output.style('bold', agent.canonical_handle)} → ${target}`;
  output.show(approval, () => `${id} ${state} ${action} ${parties}${text}`);
}
