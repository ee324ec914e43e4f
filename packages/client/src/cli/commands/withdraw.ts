import { Command } from 'commander';
import { createContext } from '../context.ts';
import type { CommandIo } from '../io.ts';

/** `am withdraw MESSAGE` */
export function withdrawCommand(io: CommandIo): Command {
  return new Command('withdraw')
    .description('remove the text and the files of a message that you sent')
    .argument('<message>', 'the message, msg_…')
    .addHelpText(
      'after',
      '\nIts place in the thread stays, and the other members are told. Copies that they have read can remain.\n\nExamples:\n  $ am withdraw msg_01K…\n  $ am withdraw msg_01K… --json',
    )
    .action(async (message_id: string, _options: object, command: Command) => {
      const { client, output } = createContext(io, command);
      const message = await (await client()).messages.withdraw({ message_id });
      output.show(message, () => `withdrew ${message.id}, #${message.sequence} of ${message.thread_id}`);
    });
}
