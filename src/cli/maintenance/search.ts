import { system } from '../../../packages/core/src/domain/auth/audit.ts';
import { Command, InvalidArgumentError } from 'commander';
import { isId } from '../../../packages/core/src/domain/ids.ts';
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
  throw new InvalidArgumentError('Must be the id of a message, msg_…');
}

/** `ams search …` */
export function searchCommand(io: CommandIo): Command {
  const reindex = resultCommand('reindex', 'write search rows that are missing or of an older version')
    .option('--all', 'rewrite all rows')
    .option('--after <message>', 'continue after this message', parseMessageId, '')
    .option('--batch <n>', `messages per step, up to ${maxBatch}`, integerInRange(1, maxBatch), 500)
    .action(async (options: ReindexOptions) => {
      const interrupted = io.interruptSignal();
      const result = await reindexAll(io, options, interrupted);
      if (interrupted.aborted) {
        const from = result.after === '' ? '' : ` --after ${result.after}`;
        throw new Error(
          `interrupted; continue with: ams search reindex${options.all ? ' --all' : ''}${from}`,
        );
      }
      printResult(io, options, result);
    });
  return new Command('search').description('manage the search index').addCommand(reindex);
}

/** Indexes all messages in steps until done or interrupted. Each step is atomic. */
function reindexAll(
  io: CommandIo,
  options: ReindexOptions,
  interrupted: AbortSignal,
): Promise<ReindexResult> {
  const { all = false, batch: limit } = options;
  return withCore(io, async ({ unitOfWork }) => {
    const started = performance.now();
    const total = await unitOfWork.read(system, (work) => work.db.messageSearch.countAfter(options.after));
    const result = { after: options.after, examined: 0, written: 0 };
    let shown = -Infinity;
    while (!interrupted.aborted) {
      const { after } = result;
      const step = await unitOfWork.read(system, (work) => reindexStep(work, { after, all, limit }));
      if (!step) break;
      result.after = step.after;
      result.examined += step.examined;
      result.written += step.written;
      const now = performance.now();
      if (io.isTerminal && now - shown < 1_000) continue;
      shown = now;
      const { examined: done, written } = result;
      const line = formatProgress({ done, total, written, elapsed_ms: now - started });
      io.log(io.isTerminal ? `\r\u001b[K${line}` : `${line}\n`);
    }
    if (io.isTerminal && result.examined > 0) io.log('\n');
    return { ...result, seconds: Math.round((performance.now() - started) / 100) / 10 };
  });
}
