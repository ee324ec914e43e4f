import type { Command } from 'commander';
import { declareRestore } from '../../services/feed-epoch.ts';
import { printResult, resultCommand } from '../output.ts';
import { withCore } from '../core.ts';
import type { CommandIo } from '../io.ts';

/** `ams restored` */
export function restoredCommand(io: CommandIo): Command {
  return resultCommand(
    'restored',
    'after a snapshot was put back: give out no number of a feed a second time',
  ).action(async (options: { json?: boolean }) => {
    const feeds = await withCore(io, ({ unitOfWork }) => unitOfWork.writeAsSystem(declareRestore));
    printResult(io, options, { feeds });
  });
}
