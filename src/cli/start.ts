import { Command } from 'commander';
import { launcherHelp } from '../embedded/launcher-help.ts';
import type { CommandIo } from './io.ts';

/** `ams start`: the same as `npm start`, for an installation from the package. */
export function startCommand({ env }: CommandIo): Command {
  return new Command('start')
    .description('run the whole service on this machine, for development and evaluation')
    .addHelpText(
      'after',
      `\n${launcherHelp}\nExamples:\n  $ ams start\n  $ PORT=4000 DATA_DIR=/tmp/try ams start`,
    )
    .action(async () => {
      // No other command needs the API and the worker.
      const { runLauncher } = await import('../embedded/run-launcher.ts');
      await runLauncher([], env);
    });
}
