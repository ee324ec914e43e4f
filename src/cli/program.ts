import { accountCommand } from './people/account.ts';
import { agentCommand } from './agents/agent.ts';
import { approvalCommand } from './approval.ts';
import { auditCommand } from './maintenance/audit.ts';
import { credentialCommand } from './auth/credential.ts';
import { doctorCommand } from './maintenance/doctor.ts';
import { inboxCommand } from './inbox.ts';
import { invitationCommand } from './people/invitation.ts';
import type { CommandIo } from './io.ts';
import { keyCommand } from './auth/signing-key.ts';
import { mcpStdioCommand } from './mcp-stdio.ts';
import { orgCommand } from './people/organization.ts';
import { apiCommand, migrateCommand, workerCommand } from './processes.ts';
import { quickstartCommand } from './quickstart.ts';
import { queueCommand } from './maintenance/queue.ts';
import { feedsCommand } from './maintenance/feeds.ts';
import { remoteCommand } from './agents/remote.ts';
import { runCommands } from './run-commands.ts';
import { searchCommand } from './maintenance/search.ts';
import { startCommand } from './start.ts';
import { statsCommand, statusCommand } from './maintenance/status.ts';
import { threadCommand } from './thread.ts';
import { tokenCommand } from './auth/token.ts';
import { webhookCommand } from './webhook.ts';

/** Every command of `ams` but `completion`, which each program has. */
export const commands = [
  startCommand,
  migrateCommand,
  apiCommand,
  workerCommand,
  quickstartCommand,
  accountCommand,
  invitationCommand,
  orgCommand,
  agentCommand,
  threadCommand,
  credentialCommand,
  tokenCommand,
  approvalCommand,
  remoteCommand,
  webhookCommand,
  inboxCommand,
  keyCommand,
  searchCommand,
  auditCommand,
  feedsCommand,
  queueCommand,
  mcpStdioCommand,
  statsCommand,
  statusCommand,
  doctorCommand,
];

/** Runs one command of `ams`. Returns the exit code of `runCommands`. */
export function runCommandLine(args: readonly string[], io: CommandIo): Promise<number> {
  return runCommands(commands, args, io);
}
