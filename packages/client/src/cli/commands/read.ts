import { Command } from 'commander';
import type { Client, Message } from '../../main.ts';
import { createContext } from '../context.ts';
import type { CommandIo } from '../io.ts';
import { integerInRange } from '../integer-in-range.ts';
import { findThread } from '../options.ts';
import { formatMessage } from '../output.ts';

interface Options {
  follow?: true;
  limit: number;
  mark: boolean;
}

/** `am read THREAD` */
export function readCommand(io: CommandIo): Command {
  return new Command('read')
    .description('read the latest messages of a thread, and mark them as read')
    .argument('<thread>', 'id of a thread, or handle of an agent for the latest thread with it')
    .option('--follow', 'then print new messages until you interrupt')
    .option('--limit <count>', 'how many messages', integerInRange(1, 100), 20)
    .option('--no-mark', 'do not mark the messages as read')
    .addHelpText('after', '\nExamples:\n  $ am read globex.support\n  $ am read thd_01K… --follow --json')
    .action(async (target: string, options: Options, command: Command) => {
      const { client, output } = createContext(io, command);
      const service = await client();
      const thread_id = await findThread(service, target);
      const show = async (messages: readonly Message[]) => {
        for (const message of messages) output.show(message, () => formatMessage(output, message));
        const up_to_sequence = messages.at(-1)?.sequence;
        if (options.mark && up_to_sequence !== undefined)
          await service.threads.markRead({ thread_id, up_to_sequence });
      };
      const { messages } = await service.messages.list({ thread_id, limit: options.limit }).page();
      await show(messages.toReversed());
      if (options.follow)
        await follow(service, thread_id, messages[0]?.sequence ?? 0, show, io.interruptSignal());
    });
}

/** Shows later messages. Events say when; the list of messages is what is read, so none is left out. */
async function follow(
  client: Client,
  thread_id: string,
  start: number,
  show: (messages: readonly Message[]) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  let after_sequence = start;
  let last = Promise.resolve();
  /** One at a time, so that no message is shown twice. */
  function showLater(): Promise<void> {
    last = last.then(showOnce);
    return last;
  }
  async function showOnce(): Promise<void> {
    const later: Message[] = [];
    for await (const message of client.messages.list({ thread_id, order: 'asc', after_sequence }))
      later.push(message);
    await show(later);
    after_sequence = later.at(-1)?.sequence ?? after_sequence;
  }
  const events = client.events({
    from: 'latest',
    signal,
    onState: ({ status }) => {
      // Messages between the first list and the connection.
      if (status === 'open') showLater().catch(() => events.close());
    },
  });
  for await (const event of events) {
    if (event.type === 'gap') event.accept();
    if (event.type === 'gap' || event.type === 'message.created') await showLater();
  }
}
