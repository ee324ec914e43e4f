import { accountCommand } from './account.ts';
import { agentCommand } from './agent.ts';
import { approvalCommand } from './approval.ts';
import { auditCommand } from './audit.ts';
import { credentialCommand } from './credential.ts';
import { doctorCommand } from './doctor.ts';
import { invitationCommand } from './invitation.ts';
import type { CommandIo } from './io.ts';
import { keyCommand } from './key.ts';
import { mcpStdioCommand } from './mcp-stdio.ts';
import { orgCommand } from './org.ts';
import { queueCommand } from './queue.ts';
import { restoredCommand } from './restored.ts';
import { runCommands } from './run-commands.ts';
import { searchCommand } from './search.ts';
import { tokenCommand } from './token.ts';
import { webhookCommand } from './webhook.ts';

const commands = [
  accountCommand,
  invitationCommand,
  orgCommand,
  agentCommand,
  credentialCommand,
  tokenCommand,
  approvalCommand,
  webhookCommand,
  keyCommand,
  searchCommand,
  auditCommand,
  restoredCommand,
  queueCommand,
  mcpStdioCommand,
  doctorCommand,
];

/** Runs one command of `ams`; answers as `runCommands` does. */
export function runCommandLine(args: readonly string[], io: CommandIo): Promise<number> {
  return runCommands(commands, args, io);
}
