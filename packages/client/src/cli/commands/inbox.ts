import { Command } from 'commander';
import { createContext } from '../context.ts';
import type { CommandIo } from '../io.ts';
import type { Thread } from '../../main.ts';
import { formatEvent } from '../format-event.ts';
import { toPlainLine } from '../output.ts';
import { showThreads } from '../thread-table.ts';

/** `am inbox` */
export function inboxCommand(io: CommandIo): Command {
  return new Command('inbox')
    .description('show threads with unread messages, and contact requests to you')
    .option('--follow', 'then print new messages and requests until you interrupt')
    .addHelpText('after', '\nExamples:\n  $ am inbox\n  $ am inbox --follow --json')
    .action(async ({ follow }: { follow?: true }, command: Command) => {
      const { client, output, isJson } = createContext(io, command);
      const service = await client();
      const me = await service.agents.getMe();
      if (!follow) return showWaiting();
      let waiting: Promise<void> | undefined;
      const events = service.events({
        start: 'latest',
        signal: io.interruptSignal(),
        onState: ({ status }) => {
          // Not before: what arrives between the list and the connection would be missed.
          if (status === 'open') waiting ??= showWaiting();
          waiting?.catch(() => events.close());
        },
      });
      for await (const event of events) {
        // The page that finds the position can have events, before the stream is open.
        await (waiting ??= showWaiting());
        if (event.type === 'gap') event.accept();
        const isOwn = event.type === 'message.created' && event.data.sender.id === me.id;
        const isShown =
          event.type === 'message.created' || event.type === 'contact.request' || event.type === 'gap';
        if (isShown && !isOwn) output.show(event, () => formatEvent(output, event));
      }
      await waiting;

      async function showWaiting(): Promise<void> {
        const unread: Thread[] = [];
        for await (const thread of service.threads.list({ unread: true })) unread.push(thread);
        const view = { output, isJson, me: me.canonical_handle };
        await showThreads(service, view, unread, (thread) => ({ type: 'thread', thread }));
        for await (const request of service.contacts.listRequests()) {
          const { from, message, request_id } = request;
          const text = message === null ? '' : `: ${toPlainLine(message)}`;
          const name = output.style('bold', from.canonical_handle);
          output.show(
            { type: 'contact_request', request },
            () => `${request_id} ${name} asks for contact${text}`,
          );
        }
      }
    });
}
