import { system } from '../../../packages/core/src/domain/auth/audit.ts';
import { Command } from 'commander';
import { countFeeds, declareRestore } from '../../services/feed-epoch.ts';
import { withCore, operator } from '../core.ts';
import type { CommandIo } from '../io.ts';
import { printResult, resultCommand } from '../output.ts';

interface MarkRestoredOptions {
  yes?: true;
  json?: boolean;
}

/** `ams feeds …` */
export function feedsCommand(io: CommandIo): Command {
  const markRestored = resultCommand(
    'mark-restored',
    'begin a new range of positions in every feed, after a restore that the service cannot detect, such as of a disk snapshot',
  )
    .option('--yes', 'change the feeds; without it the command only reports how many it would change')
    .action(async (options: MarkRestoredOptions) => {
      const feeds = await withCore(io, ({ unitOfWork }) =>
        options.yes ? unitOfWork.write(operator(), declareRestore) : unitOfWork.read(system, countFeeds),
      );
      printResult(io, options, { feeds, changed: options.yes ?? false });
      if (!options.yes && !options.json)
        io.log('dry run: no feed was changed; repeat the command with --yes\n');
    });
  return new Command('feeds').description('manage feeds').addCommand(markRestored);
}
