import { devNull } from 'node:os';
import { Command } from 'commander';
import type { Client, Message } from '../../main.ts';
import { createContext } from '../context.ts';
import type { CommandIo } from '../io.ts';
import { integerInRange } from '../integer-in-range.ts';
import { findThread } from '../options.ts';
import { formatMessage, type Output } from '../output.ts';

interface Options {
  follow?: true;
  limit: number;
  mark: boolean;
}

const helpText = `
Prints the unread messages, oldest first, and marks as read what it has written. Without unread messages, it prints the latest ones.

Examples:
  $ am read globex.support
  $ am read thd_01K… --follow --json`;

/** `am read THREAD` */
export function readCommand(io: CommandIo): Command {
  return new Command('read')
    .description('read the unread messages of a thread, and mark them as read')
    .argument('<thread>', 'id of a thread, or handle of an agent for the latest thread with it')
    .option('--follow', 'print all unread messages, then new ones until you interrupt')
    .option('--limit <count>', 'how many messages at most', integerInRange(1, 100), 20)
    .option('--no-mark', 'do not mark the messages as read')
    .addHelpText('after', helpText)
    .action(async (target: string, options: Options, command: Command) => {
      const { client, output } = createContext(io, command);
      const service = await client();
      const thread_id = await findThread(service, target);
      if (options.mark && io.isOutputDiscarded)
        io.log(`standard output is closed or ${devNull}: nothing is marked as read\n`);
      const marks = options.mark && !io.isOutputDiscarded;
      const show = (messages: readonly Message[]) =>
        showMessages(messages, { io, output, ...(marks && { service }) });
      const unread = await listUnread(service, thread_id, options.limit);
      if (unread.length > 0) await show(unread);
      const latest = unread.length > 0 ? unread : await showLatest();
      if (options.follow) {
        await follow(service, thread_id, latest.at(-1)?.sequence ?? 0, show, io.interruptSignal());
      } else if (unread.length > 0 && marks) await reportUnread();

      async function showLatest(): Promise<readonly Message[]> {
        const { messages } = await service.messages.list({ thread_id, limit: options.limit }).page();
        io.log(messages.length > 0 ? 'nothing is unread; the latest messages:\n' : 'no messages yet\n');
        await showMessages(messages.toReversed(), { io, output });
        return messages.toReversed();
      }
      async function reportUnread(): Promise<void> {
        const { unread_count: count } = await service.threads.get({ thread_id });
        if (count === 1) io.log('1 more message is unread; repeat the command\n');
        if (count > 1) io.log(`${count} more messages are unread; repeat the command\n`);
      }
    });
}

/** The oldest messages after the read mark; none if they are all own ones. */
async function listUnread(client: Client, thread_id: string, limit: number): Promise<readonly Message[]> {
  const [me, { receipts }] = await Promise.all([
    client.agents.getMe(),
    client.threads.listReceipts({ thread_id }).page(),
  ]);
  const after_sequence = receipts.find(({ agent }) => agent.id === me.id)?.read_up_to_sequence ?? 0;
  const { messages } = await client.messages.list({ thread_id, order: 'asc', after_sequence, limit }).page();
  return messages.some(({ sender }) => sender.id !== me.id) ? messages : [];
}

/**
 * Prints messages. With a service, marks as read what was written: the reader of a pipe can end early (`am read … | head -1`), and only a
 * later write shows that. So there is a call to the service, during which a reader can end, between the first message and the others, and
 * before the last line break.
 */
async function showMessages(
  messages: readonly Message[],
  { io, output, service }: { io: CommandIo; output: Output; service?: Client },
): Promise<void> {
  const last = messages.at(-1);
  for (const message of messages) {
    const isHeld = service !== undefined && message === last;
    output.show(message, () => formatMessage(output, message), isHeld ? '' : '\n');
    await io.flush();
    if (service && message === messages[0] && message !== last && !io.isTerminal)
      await mark(service, message);
  }
  if (!service || !last) return;
  if (!io.isTerminal) await service.threads.get({ thread_id: last.thread_id });
  io.print('\n');
  await io.flush();
  await mark(service, last);
}

function mark({ threads }: Client, { thread_id, sequence }: Message): Promise<void> {
  return threads.markRead({ thread_id, up_to_sequence: sequence });
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
    const later = client.messages.list({ thread_id, order: 'asc', after_sequence, limit: 100 });
    for await (const { messages } of later.pages()) {
      await show(messages);
      after_sequence = messages.at(-1)?.sequence ?? after_sequence;
    }
  }
  const events = client.events({
    start: 'latest',
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
  await last;
}
