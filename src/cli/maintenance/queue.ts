import { Argument, Command } from 'commander';
import { type QueueName, queueNames } from '../../jobs/define.ts';
import type { Core } from '../../compose.ts';
import { printing } from '../actions.ts';
import { withCore } from '../core.ts';
import type { CommandIo } from '../io.ts';
import { integerInRange } from '../option-values.ts';
import { printResult, resultCommand } from '../output.ts';

const queueArgument = (): Argument => new Argument('<queue>', 'name of the queue').choices(queueNames);

/** `ams queue …` */
export function queueCommand(io: CommandIo): Command {
  const depth = resultCommand('depth', 'count jobs by queue and state, and jobs in the outbox').action(
    async (options: { json?: boolean }) => {
      const { queues, outbox } = await withCore(io, readDepths);
      printResult(
        io,
        options,
        options.json ? { queues, outbox } : [...queues, { queue: 'outbox', ...outbox }],
      );
    },
  );

  const failed = resultCommand('failed', 'list the newest permanently failed jobs, with their errors')
    .addArgument(queueArgument())
    .option('--limit <n>', 'maximum number', integerInRange(1, 1_000), 20)
    .action(
      printing(
        io,
        (queue: QueueName, { limit }: { limit: number }) =>
          withCore(io, async ({ queues }) => {
            await queues.ping();
            return queues.failures(queue, limit);
          }),
        'jobs',
      ),
    );

  const retry = resultCommand('retry', 'retry one permanently failed job, or all of a queue')
    .addArgument(queueArgument())
    .argument('[id]', 'id of the job; or use --all')
    .option('--all', 'retry all permanently failed jobs')
    .action(
      printing(io, async (queue: QueueName, id: string | undefined, { all }: { all?: true }) => {
        if ((id === undefined) === (all === undefined)) throw new Error('give either a job id or --all');
        const retried = await withCore(io, async ({ queues }) => {
          await queues.ping();
          return queues.retry(queue, id);
        });
        if (id !== undefined && retried === 0) throw new Error(`the queue ${queue} has no failed job ${id}`);
        return { queue, retried };
      }),
    );

  return new Command('queue')
    .description('inspect and retry jobs')
    .addCommand(depth)
    .addCommand(failed)
    .addCommand(retry);
}

async function readDepths({ queues, db }: Core) {
  await queues.ping();
  const { rows, oldest } = await db.outbox.readAge();
  const depths = await queues.depths();
  return {
    queues: depths.map(({ oldest: since, ...states }) => ({ ...states, oldest_s: secondsSince(since) })),
    outbox: { owed: rows, oldest_s: secondsSince(oldest) },
  };
}

function secondsSince(time: number | null): number | null {
  return time === null ? null : Math.max(0, Math.round((Date.now() - time) / 1_000));
}
