import { Command, CommanderError } from 'commander';
import { completionCommand } from '../../packages/client/src/cli/commands/completion.ts';
import { describeError } from '../shared/error-log.ts';
import { version } from '../shared/version.ts';
import { examples } from './examples.ts';
import type { CommandIo } from './io.ts';

/**
 * Runs one of these commands of `ams`.
 * @returns the exit code: 0 for success, 1 after a one-line error, 2 for wrong usage.
 */
export async function runCommands(
  commands: readonly ((io: CommandIo) => Command)[],
  args: readonly string[],
  io: CommandIo,
): Promise<number> {
  try {
    await createProgram(commands, io).parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    // Commander has already printed the error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const [line] = describeError(error).split('\n');
    // A table or column does not exist (SQLSTATE 42P01, 42703).
    const lacksMigration = /^42(P01|703)$/.test((error as { code?: string }).code ?? '');
    io.log(`error: ${line}${lacksMigration ? '; run: ams migrate, or correct DATABASE_URL' : ''}\n`);
    return 1;
  }
}

/** Creates the program with these commands. */
export function createProgram(commands: readonly ((io: CommandIo) => Command)[], io: CommandIo): Command {
  const program = new Command('ams').description(
    "the operator's command line of the agent messaging service",
  );
  program.version(version, '-V, --version', 'print the version');
  for (const command of commands) program.addCommand(command(io));
  program.addCommand(completionCommand(io, program));
  configureCommand(program, io);
  return program;
}

/** Makes commands throw instead of exiting the process, and write to `io`. */
function configureCommand(command: Command, io: CommandIo, path: readonly string[] = []): void {
  command.exitOverride().configureOutput({ writeOut: io.print, writeErr: io.log });
  const lines = examples[path.join(' ')]?.map((example) => `\n  $ ams ${example}`);
  if (lines) command.addHelpText('after', `\nExamples:${lines.join('')}`);
  for (const child of command.commands) configureCommand(child, io, [...path, child.name()]);
}
