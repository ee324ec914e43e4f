import { Command } from 'commander';
import { createContext } from '../context.ts';
import { CommandError, exitCodes } from '../exit-codes.ts';
import type { CommandIo } from '../io.ts';
import { integerInRange } from '../integer-in-range.ts';
import { isThreadId } from '../options.ts';
import { parseDuration } from '../duration.ts';
import type { Task } from '../../main.ts';
import { formatMessage } from '../output.ts';

interface Options {
  wait: number | true;
  due?: number;
  subject?: string;
  key?: string;
}

const defaultWaitSeconds = 60;

/** `am ask HANDLE text --wait` */
export function askCommand(io: CommandIo): Command {
  return new Command('ask')
    .description('send a question, wait, and print the answer')
    .argument('<target>', 'handle of an agent, or id of a thread')
    .argument('<text>', 'the question')
    .option(
      '--wait [seconds]',
      'how long to wait for the answer',
      integerInRange(1, 86_400),
      defaultWaitSeconds,
    )
    .option(
      '--due <duration>',
      'when you want the answer, such as 30m, 2h or 3d; then it is overdue',
      parseDuration,
    )
    .option('--subject <text>', 'the subject of the new thread')
    .option('--key <key>', 'idempotency key: a repeated command asks only once and waits for the same answer')
    .addHelpText(
      'after',
      '\nExit code 7: no answer came in time. The question stays open: see am task show.\n\nExamples:\n  $ am ask globex.support "Is order 1042 on its way?" --wait 120\n  $ am ask globex.support "Please check the invoice." --due 2h\n  $ am ask thd_01K… "And 1043?" --json',
    )
    .action(async (target: string, text: string, options: Options, command: Command) => {
      const { client, output } = createContext(io, command);
      const { due, subject, key } = options;
      const seconds = options.wait === true ? defaultWaitSeconds : options.wait;
      const where = isThreadId(target)
        ? target
        : { with_handle: target, ...(subject !== undefined && { subject }) };
      const service = await client();
      let openTask: Task | undefined;
      const reply = await service.ask(where, text, {
        timeoutMs: seconds * 1_000,
        signal: io.interruptSignal(),
        ...(key !== undefined && { idempotencyKey: key }),
        ...(due !== undefined && { dueInSeconds: due }),
        onTask: (task) => {
          openTask = task;
        },
      });
      if (!reply) throw new CommandError(describeSilence(seconds, openTask), exitCodes.noAnswer);
      output.show(reply, () => formatMessage(output, reply));
    });
}

function describeSilence(seconds: number, task: Task | undefined): string {
  const next = task ? `; see: am task show ${task.id}` : '';
  return `no answer within ${seconds} s${next}`;
}
