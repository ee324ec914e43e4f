import { Command } from 'commander';
import { launcherHelp, runLauncher, serviceEntries } from '../embedded/run-launcher.ts';
import type { CommandIo } from './io.ts';
import { runCommands } from './run-commands.ts';

/** `ams start`: the same as `npm start`, for an installation from the package. */
export function startCommand({ env }: CommandIo): Command {
  return new Command('start')
    .description('run the whole service on this machine, for development and evaluation')
    .addHelpText(
      'after',
      `\n${launcherHelp}\nExamples:\n  $ ams start\n  $ PORT=4000 DATA_DIR=/tmp/try ams start`,
    )
    .action(() => runLauncher(serviceEntries, [], env));
}

/** Runs only `ams start`, without loading the service into this process. Returns the exit code of `runCommands`. */
export function runCommandLine(args: readonly string[], io: CommandIo): Promise<number> {
  return runCommands([startCommand], args, io);
}
