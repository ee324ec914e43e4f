import { Command } from 'commander';
import { migrateForward } from '../platform/database/migrations.ts';
import { loadServiceConfig } from './core.ts';
import type { CommandIo } from './io.ts';

/** `ams api` or `ams worker`: the same as `npm run api` or `npm run worker`, for an installation from the package. */
const partCommand = (part: 'api' | 'worker') => (): Command =>
  new Command(part)
    .description(`run one ${part === 'api' ? 'API' : part} process, until SIGTERM or SIGINT`)
    .action(async () => {
      // No other command needs the API or the workers.
      const { runPart } = await import('../embedded/run-part.ts');
      await runPart[part]();
    });

export const apiCommand = partCommand('api');
export const workerCommand = partCommand('worker');

/** `ams migrate` */
export function migrateCommand(io: CommandIo): Command {
  return new Command('migrate')
    .description('migrate the schema of the database; safe while processes run')
    .action(async () => {
      const { DATABASE_DIRECT_URL } = loadServiceConfig(io.env);
      const run = await migrateForward(DATABASE_DIRECT_URL, (line) => io.log(`${line}\n`));
      io.print(run.length > 0 ? `${run.join('\n')}\n` : 'the schema is up to date\n');
    });
}
