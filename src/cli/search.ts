import { Command, InvalidArgumentError } from 'commander';
import { isId } from '../domain/ids.ts';
import { reindexStep } from '../services/search-index.ts';
import { printResult, resultCommand } from './command.ts';
import { withCore } from './core.ts';
import type { CommandIo } from './io.ts';
import { wholeNumber } from './numbers.ts';
import { progressLine } from './progress.ts';

interface ReindexOptions {
  all?: boolean;
  after: string;
  batch: number;
  json?: boolean;
}

interface Walked {
  /** The last message that was examined. */
  after: string;
  examined: number;
  written: number;
  seconds: number;
}

const largestBatch = 5_000;

function parseMessageId(value: string): string {
  if (isId('message', value)) return value;
  throw new InvalidArgumentError('Give the id of a message, msg_…');
}

/** `ams search …` */
export function searchCommand(io: CommandIo): Command {
  const reindex = resultCommand('reindex', 'write the search rows that are missing or of an older release')
    .option('--all', 'write every row anew')
    .option('--after <message>', 'go on behind this message', parseMessageId, '')
    .option('--batch <n>', `messages in one step, up to ${largestBatch}`, wholeNumber(1, largestBatch), 500)
    .action(async (options: ReindexOptions) => {
      const interrupted = io.interruption();
      const walked = await walk(io, options, interrupted);
      if (interrupted.aborted) {
        const from = walked.after === '' ? '' : ` --after ${walked.after}`;
        throw new Error(`interrupted; go on with: ams search reindex${options.all ? ' --all' : ''}${from}`);
      }
      printResult(io, options, walked);
    });
  return new Command('search').description('the message search').addCommand(reindex);
}

/** Steps through all messages until there are no more, or the signal says so; each step is whole or not done. */
function walk(io: CommandIo, options: ReindexOptions, interrupted: AbortSignal): Promise<Walked> {
  const { all = false, batch: limit } = options;
  return withCore(io, async ({ unitOfWork }) => {
    const started = performance.now();
    const total = await unitOfWork.consult((work) => work.messageSearch.countAfter(options.after));
    const walked = { after: options.after, examined: 0, written: 0 };
    let shown = -Infinity;
    while (!interrupted.aborted) {
      const { after } = walked;
      const step = await unitOfWork.consult((work) => reindexStep(work, { after, all, limit }));
      if (!step) break;
      walked.after = step.after;
      walked.examined += step.examined;
      walked.written += step.written;
      const now = performance.now();
      if (io.terminal && now - shown < 1_000) continue;
      shown = now;
      const { examined: done, written } = walked;
      const line = progressLine({ done, total, written, elapsed_ms: now - started });
      io.complain(io.terminal ? `\r\u001b[K${line}` : `${line}\n`);
    }
    if (io.terminal && walked.examined > 0) io.complain('\n');
    return { ...walked, seconds: Math.round((performance.now() - started) / 100) / 10 };
  });
}
