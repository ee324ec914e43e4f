import { Argument, Command, Option } from 'commander';
import { type QueueName, queueNames } from '../../jobs/define.ts';
import type { Core } from '../../compose.ts';
import { printResult, resultCommand } from '../output.ts';
import { withCore } from '../core.ts';
import type { CommandIo } from '../io.ts';
import { integerInRange } from '../option-values.ts';

interface Options {
  json?: boolean;
}

const queueArgument = (): Argument => new Argument('<queue>', 'which queue').choices(queueNames);

/** `ams queue …`: what workers have to do, and what they could not do. */
export function queueCommand(io: CommandIo): Command {
  const depth = resultCommand('depth', 'jobs by queue and state, and what is owed since a commit').action(
    async (options: Options) => {
      const { queues, outbox } = await withCore(io, readDepths);
      printResult(
        io,
        options,
        options.json ? { queues, outbox } : [...queues, { queue: 'outbox', ...outbox }],
      );
    },
  );

  const failed = resultCommand('failed', 'the newest jobs that failed for good, with their errors')
    .addArgument(queueArgument())
    .addOption(new Option('--limit <n>', 'at most so many').argParser(integerInRange(1, 1_000)).default(20))
    .action(async (queue: QueueName, { limit, json }: Options & { limit: number }) => {
      const jobs = await withCore(io, async ({ queues }) => {
        await queues.ping();
        return queues.failures(queue, limit);
      });
      printResult(io, { ...(json && { json }) }, json ? { jobs } : jobs);
    });

  const retry = resultCommand('retry', 'start a job that failed for good anew, or all of a queue')
    .addArgument(queueArgument())
    .argument('[id]', 'which job; without it, --all')
    .option('--all', 'all that failed for good')
    .action(async (queue: QueueName, id: string | undefined, options: Options & { all?: true }) => {
      if ((id === undefined) === (options.all === undefined)) throw new Error('name one job, or give --all');
      const retried = await withCore(io, async ({ queues }) => {
        await queues.ping();
        return queues.retry(queue, id);
      });
      if (id !== undefined && retried === 0) throw new Error(`no job ${id} of the queue ${queue} has failed`);
      printResult(io, options, { queue, retried });
    });

  return new Command('queue')
    .description('the jobs of the workers')
    .addCommand(depth)
    .addCommand(failed)
    .addCommand(retry);
}

async function readDepths({ queues, repositories }: Core) {
  await queues.ping();
  const { rows, oldest } = await repositories.outbox.readAge();
  const depths = await queues.depths();
  return {
    queues: depths.map(({ oldest: since, ...states }) => ({ ...states, oldest_s: secondsSince(since) })),
    outbox: { owed: rows, oldest_s: secondsSince(oldest) },
  };
}

function secondsSince(time: number | null): number | null {
  return time === null ? null : Math.max(0, Math.round((Date.now() - time) / 1_000));
}
