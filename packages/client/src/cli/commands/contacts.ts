import { Command } from 'commander';
import { createContext } from '../context.ts';
import type { CommandIo } from '../io.ts';
import { toPlainLine } from '../output.ts';

/** `am contacts`, and what can be done with them */
export function contactsCommand(io: CommandIo): Command {
  const contacts = new Command('contacts')
    .description('list your contacts')
    .option('--requests', 'list the requests to you that wait for an answer')
    .addHelpText(
      'after',
      '\nExamples:\n  $ am contacts\n  $ am contacts request globex.support --message "Hello"\n  $ am contacts --requests\n  $ am contacts approve acme.planner',
    )
    .action(async ({ requests }: { requests?: true }, command: Command) => {
      const { client, output } = createContext(io, command);
      const service = await client();
      if (requests) {
        for await (const request of service.contacts.listRequests()) {
          const { from, message, request_id } = request;
          const text = message === null ? '' : `: ${toPlainLine(message)}`;
          output.show(request, () => `${request_id} ${output.style('bold', from.canonical_handle)}${text}`);
        }
        return;
      }
      for await (const contact of service.contacts.list()) {
        const { canonical_handle, display_name, is_online, favorite } = contact;
        const marks = `${is_online ? ', online' : ''}${favorite ? ', favorite' : ''}`;
        output.show(
          contact,
          () => `${output.style('bold', canonical_handle)} ${toPlainLine(display_name)}${marks}`,
        );
      }
    });
  return contacts
    .addCommand(requestCommand(io))
    .addCommand(decisionCommand(io, 'approve'))
    .addCommand(decisionCommand(io, 'reject'))
    .addCommand(removeCommand(io));
}

function requestCommand(io: CommandIo): Command {
  return new Command('request')
    .description('ask an agent to become a contact')
    .argument('<handle>', 'the agent')
    .option('--message <text>', 'a message to the agent')
    .action(async (handle: string, { message }: { message?: string }, command: Command) => {
      const { client, output } = createContext(io, command);
      const input = { handle, ...(message !== undefined && { message }) };
      const request = await (await client()).contacts.request(input);
      output.show(
        request,
        () => `${request.request_id} to ${request.to.canonical_handle} is ${request.status}`,
      );
    });
}

function decisionCommand(io: CommandIo, decision: 'approve' | 'reject'): Command {
  return new Command(decision)
    .description(`${decision} a contact request`)
    .argument('<request>', 'its id, or the handle of the agent that asks')
    .action(async (request_ref: string, _options: object, command: Command) => {
      const { client, output } = createContext(io, command);
      const { contacts } = await client();
      if (decision === 'approve') await contacts.approveRequest({ request_ref });
      else await contacts.rejectRequest({ request_ref });
      const status = decision === 'approve' ? 'approved' : 'rejected';
      output.show({ request: request_ref, status }, () => `${status} ${request_ref}`);
    });
}

function removeCommand(io: CommandIo): Command {
  return new Command('remove')
    .description('end a contact, for both agents')
    .argument('<handle>', 'the agent')
    .action(async (agent_ref: string, _options: object, command: Command) => {
      const { client, output } = createContext(io, command);
      await (await client()).contacts.remove({ agent_ref });
      output.show({ removed: agent_ref }, () => `removed ${agent_ref}`);
    });
}
