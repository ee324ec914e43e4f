import { join } from 'node:path';
import { Command } from 'commander';
import { type ClientEvent, type CursorStore, fileCursor } from '../../node/main.ts';
import { createContext } from '../context.ts';
import { CommandError } from '../exit-codes.ts';
import { formatEvent } from '../format-event.ts';
import type { CommandIo } from '../io.ts';
import { integerInRange } from '../integer-in-range.ts';
import { collectBatches } from '../collect-batches.ts';
import { runProgram } from '../run-program.ts';

interface Options {
  exec?: string;
  batchMs: number;
  types?: string;
  from?: 'earliest' | 'latest';
}

const helpText = `
Each event is one line of JSON with --json, and on the standard input of the command of --exec. The command gets the number of events
in AM_EVENTS. When it exits with 0, the position is stored, and the next start continues there; otherwise listening ends with exit code
1, and the next start runs the command with the same events again.

Examples:
  $ am listen --json
  $ am listen --exec ./handle-events --batch-ms 500 --types message.created,contact.request`;

/** `am listen` */
export function listenCommand(io: CommandIo): Command {
  return new Command('listen')
    .description('print events, or run a command for them, until you interrupt')
    .option('--exec <command>', 'run this command of the shell for each batch of events')
    .option(
      '--batch-ms <milliseconds>',
      'how long to gather events for one run',
      integerInRange(0, 60_000),
      0,
    )
    .option('--types <types>', 'only these event types, separated by commas')
    .option('--from <where>', 'earliest or latest, where no position is stored yet')
    .addHelpText('after', helpText)
    .action(async (options: Options, command: Command) => {
      const { client, output, selected } = createContext(io, command);
      const cursor = fileCursor(join(selected.folder, `${selected.profile}.listen-position`));
      const types = options.types?.split(',').map((type) => type.trim());
      const signal = io.interruptSignal();
      const events = (await client()).events({
        cursor: readOnly(cursor),
        signal,
        ...(options.from && { start: options.from }),
      });
      const isWanted = ({ type }: ClientEvent) => type === 'gap' || !types || types.includes(type);
      for await (const batch of collectBatches(events, options.batchMs)) {
        const wanted = batch.filter(isWanted);
        if (options.exec === undefined) {
          for (const event of wanted) output.show(event, () => formatEvent(output, event));
          await io.flush();
          if (io.isOutputDiscarded) continue;
        } else if (wanted.length > 0) await runHandler(io, options.exec, wanted, signal);
        // After an interruption it is not known whether the command was finished.
        if (signal.aborted && options.exec !== undefined) return;
        const last = batch.at(-1);
        if (last) await cursor.save(last.cursor);
      }
    });
}

/** The position is stored after the command, not when the next event is taken. */
function readOnly(cursor: CursorStore): CursorStore {
  return { load: () => cursor.load(), save: async () => undefined };
}

async function runHandler(
  { env }: CommandIo,
  exec: string,
  events: readonly ClientEvent[],
  signal: AbortSignal,
): Promise<void> {
  const input = events.map((event) => `${JSON.stringify(event)}\n`).join('');
  const code = await runProgram(exec, { env: { ...env, AM_EVENTS: String(events.length) }, input, signal });
  if (code !== 0 && !signal.aborted)
    throw new CommandError(`the command ended with ${code}; its events are given again at the next start`);
}
