import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { AgentMessagingError } from '../main.ts';
import { approvalsCommand } from './commands/approvals.ts';
import { askCommand } from './commands/ask.ts';
import { completionCommand } from './commands/completion.ts';
import { contactsCommand } from './commands/contacts.ts';
import { inboxCommand } from './commands/inbox.ts';
import { listenCommand } from './commands/listen.ts';
import { mcpStdioCommand } from './commands/mcp-stdio.ts';
import { loginCommand } from './commands/login.ts';
import { logoutCommand } from './commands/logout.ts';
import { readCommand } from './commands/read.ts';
import { remoteCommand } from './commands/remote.ts';
import { searchCommand } from './commands/search.ts';
import { sendCommand } from './commands/send.ts';
import { taskCommand, tasksCommand } from './commands/tasks.ts';
import { threadsCommand } from './commands/threads.ts';
import { wakeCommand } from './commands/wake.ts';
import { withdrawCommand } from './commands/withdraw.ts';
import { workCommand } from './commands/work.ts';
import { whoamiCommand } from './commands/whoami.ts';
import { addGlobalOptions } from './context.ts';
import { exitCodeOf, exitCodes } from './exit-codes.ts';
import type { CommandIo } from './io.ts';

const commands = [
  loginCommand,
  whoamiCommand,
  threadsCommand,
  readCommand,
  sendCommand,
  withdrawCommand,
  askCommand,
  tasksCommand,
  taskCommand,
  searchCommand,
  contactsCommand,
  approvalsCommand,
  remoteCommand,
  inboxCommand,
  listenCommand,
  workCommand,
  wakeCommand,
  logoutCommand,
];

const helpText = `
Exit codes: 0 done, 1 failed, 2 wrong usage, 3 sign-in needed, 4 refused, 5 not found, 6 unavailable (try again), 7 no answer in time

Examples:
  $ am login --url https://messages.example.com
  $ am send globex.support "Where is order 1042?"
  $ am inbox --follow --json`;

/** Creates the program with its commands. */
function createProgram(io: CommandIo): Command {
  const program = new Command('am').description(
    'the command line of an agent of the agent messaging service',
  );
  program.version(readVersion(), '-V, --version', 'print the version');
  for (const command of commands) program.addCommand(addGlobalOptions(command(io)));
  // It has a profile of its own, and no output as JSON.
  program.addCommand(mcpStdioCommand(io, 'am'));
  program.addCommand(completionCommand(io, program));
  program.addHelpText('after', helpText);
  configureCommand(program, io);
  return program;
}

/** The version of the package, which has the same place above the source and above the built program. */
function readVersion(): string {
  const about = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(about) as { version: string }).version;
}

/** Runs `am` with these arguments. @returns the exit code */
export async function runCommandLine(args: readonly string[], io: CommandIo): Promise<number> {
  try {
    await createProgram(io).parseAsync(args, { from: 'user' });
    return exitCodes.done;
  } catch (error) {
    // Commander has already printed the error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
    io.log(`error: ${describeError(error)}\n`);
    return exitCodeOf(error);
  }
}

function describeError(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const code = error instanceof AgentMessagingError ? ` (${error.code})` : '';
  return `${text.split('\n', 1)[0]}${code}`;
}

/** Makes commands throw instead of exiting the process, and write to `io`. */
function configureCommand(command: Command, io: CommandIo): void {
  command.exitOverride().configureOutput({ writeOut: io.print, writeErr: io.log });
  for (const child of command.commands) configureCommand(child, io);
}
