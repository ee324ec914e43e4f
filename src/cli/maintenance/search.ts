import { Command, InvalidArgumentError } from 'commander';
import { isId } from '../../domain/ids.ts';
import { reindexStep } from '../../services/messages/search-index.ts';
import { printResult, resultCommand } from '../output.ts';
import { withCore } from '../core.ts';
import type { CommandIo } from '../io.ts';
import { integerInRange } from '../option-values.ts';
import { formatProgress } from './search-progress.ts';

interface ReindexOptions {
  all?: boolean;
  after: string;
  batch: number;
  json?: boolean;
}

interface ReindexResult {
  /** The last message that was examined. */
  after: string;
  examined: number;
  written: number;
  seconds: number;
}

const maxBatch = 5_000;

function parseMessageId(value: string): string {
  if (isId('message', value)) return value;
  throw new InvalidArgumentError('Give the id of a message, msg_…');
}

/** `ams search …` */
export function searchCommand(io: CommandIo): Command {
  const reindex = resultCommand('reindex', 'write the search rows that are missing or of an older release')
    .option('--all', 'write every row anew')
    .option('--after <message>', 'go on behind this message', parseMessageId, '')
    .option('--batch <n>', `messages in one step, up to ${maxBatch}`, integerInRange(1, maxBatch), 500)
    .action(async (options: ReindexOptions) => {
      const interrupted = io.interruptSignal();
      const walked = await reindexAll(io, options, interrupted);
      if (interrupted.aborted) {
        const from = walked.after === '' ? '' : ` --after ${walked.after}`;
        throw new Error(`interrupted; go on with: ams search reindex${options.all ? ' --all' : ''}${from}`);
      }
      printResult(io, options, walked);
    });
  return new Command('search').description('the message search').addCommand(reindex);
}

/** Steps through all messages until there are no more, or the signal says so; each step is whole or not done. */
function reindexAll(
  io: CommandIo,
  options: ReindexOptions,
  interrupted: AbortSignal,
): Promise<ReindexResult> {
  const { all = false, batch: limit } = options;
  return withCore(io, async ({ unitOfWork }) => {
    const started = performance.now();
    const total = await unitOfWork.readAsSystem((work) => work.messageSearch.countAfter(options.after));
    const walked = { after: options.after, examined: 0, written: 0 };
    let shown = -Infinity;
    while (!interrupted.aborted) {
      const { after } = walked;
      const step = await unitOfWork.readAsSystem((work) => reindexStep(work, { after, all, limit }));
      if (!step) break;
      walked.after = step.after;
      walked.examined += step.examined;
      walked.written += step.written;
      const now = performance.now();
      if (io.isTerminal && now - shown < 1_000) continue;
      shown = now;
      const { examined: done, written } = walked;
      const line = formatProgress({ done, total, written, elapsed_ms: now - started });
      io.log(io.isTerminal ? `\r\u001b[K${line}` : `${line}\n`);
    }
    if (io.isTerminal && walked.examined > 0) io.log('\n');
    return { ...walked, seconds: Math.round((performance.now() - started) / 100) / 10 };
  });
}
