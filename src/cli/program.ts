import { Command, CommanderError } from 'commander';
import { reasonOf } from '../platform/error-log.ts';
import { accountCommand } from './account.ts';
import { agentCommand } from './agent.ts';
import { approvalCommand } from './approval.ts';
import { credentialCommand } from './credential.ts';
import { doctorCommand } from './doctor.ts';
import { invitationCommand } from './invitation.ts';
import type { CommandIo } from './io.ts';
import { keyCommand } from './key.ts';
import { orgCommand } from './org.ts';
import { queueCommand } from './queue.ts';
import { restoredCommand } from './restored.ts';
import { searchCommand } from './search.ts';
import { tokenCommand } from './token.ts';
import { webhookCommand } from './webhook.ts';

/**
 * Runs one command of `ams`.
 * @returns the exit code: 0, or after a one-line error 1, and 2 when the command line itself is wrong.
 */
export async function runCommandLine(args: readonly string[], io: CommandIo): Promise<number> {
  const program = new Command('ams')
    .description("the operator's command line of the agent messaging service")
    .addCommand(accountCommand(io))
    .addCommand(invitationCommand(io))
    .addCommand(orgCommand(io))
    .addCommand(agentCommand(io))
    .addCommand(credentialCommand(io))
    .addCommand(tokenCommand(io))
    .addCommand(approvalCommand(io))
    .addCommand(webhookCommand(io))
    .addCommand(keyCommand(io))
    .addCommand(searchCommand(io))
    .addCommand(restoredCommand(io))
    .addCommand(queueCommand(io))
    .addCommand(doctorCommand(io));
  settle(program, io);
  try {
    await program.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    // Commander has said already what is wrong.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const [line] = reasonOf(error).split('\n');
    io.complain(`error: ${line}\n`);
    return 1;
  }
}

/** Commands throw instead of ending the process, and write where they are told. */
function settle(command: Command, io: CommandIo): void {
  command.exitOverride().configureOutput({ writeOut: io.print, writeErr: io.complain });
  for (const child of command.commands) settle(child, io);
}
