import { Command } from 'commander';
import type { Lease } from '../../main.ts';
import { createContext } from '../context.ts';
import type { CommandIo } from '../io.ts';
import { integerInRange } from '../integer-in-range.ts';
import { runProgram } from '../run-program.ts';

interface Options {
  exec: string;
  concurrency: number;
  leaseSeconds: number;
  consumer?: string;
}

const helpText = `
The command gets the event as JSON on its standard input, and AM_LEASE_ID and AM_ATTEMPT in its environment. Exit code 0 acknowledges the
item; any other one gives it back for another attempt.

Examples:
  $ am work --exec ./handle-item
  $ am work --exec 'jq -r .data.content' --concurrency 4 --consumer worker-1`;

/** `am work` */
export function workCommand(io: CommandIo): Command {
  return new Command('work')
    .description('handle the items of your inbox, shared with other instances, until you interrupt')
    .requiredOption('--exec <command>', 'run this command of the shell for each item')
    .option('--concurrency <count>', 'items at a time', integerInRange(1, 100), 1)
    .option(
      '--lease-seconds <seconds>',
      'after a crash, another instance gets the item after this time',
      integerInRange(5, 43_200),
      60,
    )
    .option('--consumer <name>', 'the name of this instance; default: the host name and the process ID')
    .addHelpText('after', helpText)
    .action(async ({ exec, concurrency, leaseSeconds, consumer }: Options, command: Command) => {
      const { client, output } = createContext(io, command);
      await (
        await client()
      ).inbox.work({
        concurrency,
        leaseSeconds,
        signal: io.interruptSignal(),
        ...(consumer !== undefined && { consumer }),
        async handler(lease, signal) {
          const env = { ...io.env, AM_LEASE_ID: lease.id, AM_ATTEMPT: String(lease.attempt) };
          const input = `${JSON.stringify(lease.event)}\n`;
          const code = await runProgram(exec, { env, input, signal });
          if (code !== 0) throw new Error(`the command ended with ${code}`);
          output.show({ type: 'handled', lease_id: lease.id }, () => `handled ${lease.id}`);
        },
        onError(error, lease?: Lease) {
          const reason = error instanceof Error ? error.message : String(error);
          io.log(`am work: ${lease ? `${lease.id}: ` : ''}${reason}\n`);
        },
      });
    });
}
