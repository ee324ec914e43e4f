import { Command } from 'commander';
import type { RemoteAgent } from '../../main.ts';
import { createContext } from '../context.ts';
import { CommandError, exitCodes } from '../exit-codes.ts';
import type { CommandIo } from '../io.ts';
import { formatTime, type Output, toPlainLine } from '../output.ts';
import { findSignIn } from '../profile.ts';
import { readInput } from '../read-input.ts';

/** `am remote`: agents of other systems */
export function remoteCommand(io: CommandIo): Command {
  return new Command('remote')
    .description('list the agents of other systems that your owner has added')
    .addHelpText(
      'after',
      '\nExamples:\n  $ am remote\n  $ am remote add https://agent.example --name freight\n  $ am remote add https://agent.example/card.json --bearer < token.txt\n  $ am remote add --invitation https://ams.example/a2a/-/invitations/… --agent acme.bot\n  $ am remote show acme.freight\n  $ am remote refresh acme.freight',
    )
    .action(async (_options: object, command: Command) => {
      const { client, output } = createContext(io, command);
      for await (const agent of (await client()).remote.listAgents())
        output.show(agent, () => toLine(output, agent));
    })
    .addCommand(addCommand(io))
    .addCommand(inviteCommand(io))
    .addCommand(oneAgentCommand(io, 'show', 'show what its card says, and whether messages arrive'))
    .addCommand(oneAgentCommand(io, 'refresh', 'read its card again, and send pending messages'))
    .addCommand(removeCommand(io));
}

interface AddOptions {
  name?: string;
  organization?: string;
  invitation?: string;
  agent?: string;
  bearer?: true;
  clientId?: string;
  tokenUrl?: string;
}

function addCommand(io: CommandIo): Command {
  return new Command('add')
    .description('add an agent of another system. A person then confirms it in the console')
    .argument('[url]', 'the address of its A2A card, or of its host')
    .option('--invitation <address>', 'an invitation of another installation, in place of the URL')
    .option('--agent <handle>', 'with --invitation: the agent that talks with it; default: yours')
    .option('--name <name>', 'the part of its handle here after the dot; default: from the host')
    .option('--organization <slug>', 'add it for an organization of which you are an admin')
    .option('--bearer', 'read a token for it from standard input')
    .option('--client-id <id>', 'use client credentials; the secret is read from standard input')
    .option('--token-url <url>', 'where client credentials get tokens; default: from the card')
    .addHelpText(
      'after',
      '\nExamples:\n  $ am remote add https://agent.example\n  $ am remote add https://agent.example --client-id ams_1a2b < secret.txt',
    )
    .action(async (card_url: string | undefined, options: AddOptions, command: Command) => {
      const { client, output } = createContext(io, command);
      const { name: handle, organization, invitation, agent: own } = options;
      if ((card_url === undefined) === (invitation === undefined))
        throw new CommandError('name the address of a card, or --invitation', exitCodes.usage);
      const { remote, agents } = await client();
      const agent = await remote.addAgent({
        ...(card_url !== undefined && { card_url, credential: await readCredential(io, options) }),
        ...(invitation !== undefined && { invitation, agent: own ?? (await agents.getMe()).id }),
        ...(handle !== undefined && { handle }),
        ...(organization !== undefined && { organization }),
      });
      output.show(agent, () => `added ${agent.canonical_handle}; its card is being read`);
    });
}

/** A person creates an invitation, so the command says where. */
function inviteCommand(io: CommandIo): Command {
  return new Command('invite')
    .description('print the page on which a person invites an agent of another installation')
    .argument('[agent]', 'the handle of your agent that it will talk with; default: yours')
    .action(async (handle: string | undefined, _options: object, command: Command) => {
      const { client, output, selected } = createContext(io, command);
      const { agents } = await client();
      const { id } = await (handle === undefined ? agents.getMe() : agents.get({ agent_ref: handle }));
      const { url: service } = await findSignIn(io, selected);
      const url = `${service.replace(/\/+$/, '')}/console/remote-agents/invitations?agent=${id}`;
      output.show({ url }, () => `open ${url}`);
    });
}

/** @throws {CommandError} two kinds of credentials */
async function readCredential(io: CommandIo, { bearer, clientId, tokenUrl }: AddOptions) {
  if (bearer && clientId !== undefined)
    throw new CommandError('--bearer and --client-id exclude each other', exitCodes.usage);
  if (bearer) return { kind: 'bearer' as const, token: await readInput(io) };
  if (clientId === undefined) return { kind: 'none' as const };
  const secrets = { client_id: clientId, client_secret: await readInput(io) };
  return { kind: 'client_credentials' as const, ...secrets, ...(tokenUrl && { token_url: tokenUrl }) };
}

function oneAgentCommand(io: CommandIo, name: 'show' | 'refresh', description: string): Command {
  return new Command(name)
    .description(description)
    .argument('<agent>', 'its handle or id')
    .action(async (agent_ref: string, _options: object, command: Command) => {
      const { client, output } = createContext(io, command);
      const { remote } = await client();
      const agent = await (name === 'show'
        ? remote.getAgent({ agent_ref })
        : remote.refreshAgent({ agent_ref }));
      output.show(agent, () => toText(output, agent));
    });
}

function removeCommand(io: CommandIo): Command {
  return new Command('remove')
    .description('remove it. Its threads stay')
    .argument('<agent>', 'its handle or id')
    .action(async (agent_ref: string, _options: object, command: Command) => {
      const { client, output } = createContext(io, command);
      await (await client()).remote.removeAgent({ agent_ref });
      output.show({ removed: agent_ref }, () => `removed ${agent_ref}`);
    });
}

function toState({ state, waiting_for, failing_since }: RemoteAgent): string {
  if (state === 'waiting')
    return waiting_for === 'card'
      ? 'waiting for its card'
      : 'waiting for a person to confirm it in the console';
  return failing_since === null ? 'ready' : `failing since ${formatTime(failing_since)}`;
}

const toLine = (output: Output, agent: RemoteAgent): string =>
  `${output.style('bold', agent.canonical_handle)} ${toPlainLine(agent.display_name)}, ${toState(agent)}`;

/** All that a person looks at. The texts come from the other system. */
function toText(output: Output, agent: RemoteAgent): string {
  const { provider, card_url, card_error, signed_by, fingerprint, last_delivered_at, last_error } = agent;
  const facts = [
    ['card', card_url],
    ['problem', card_error],
    ['provider', provider],
    ['skills', agent.skills.map(({ name }) => name).join(', ')],
    [
      'messages go to',
      agent.interface && `${agent.interface.url} (${agent.interface.binding} ${agent.interface.version})`,
    ],
    ['signed by', fingerprint === null ? null : signed_by.join(', ') || 'nothing'],
    ['fingerprint', fingerprint],
    ['last delivery', last_delivered_at === null ? null : formatTime(last_delivered_at)],
    ['last error', last_error],
  ];
  const lines = facts.flatMap(([name, value]) => (value ? [`  ${name}: ${toPlainLine(value)}`] : []));
  return [toLine(output, agent), ...lines].join('\n');
}
