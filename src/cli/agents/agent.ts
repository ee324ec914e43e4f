import { Argument, Command, Option } from 'commander';
import {
  localScopes,
  defaultVisibility,
  inboundPolicies,
  type OutgoingPolicy,
  outgoingPolicies,
  visibilities,
  warnIfUnreachable,
} from '../../../packages/core/src/domain/agents/agents.ts';
import { presentAgent } from '../../../packages/core/src/records/agent.ts';
import {
  type OperatorRegistration,
  registerAgentAsOperator,
} from '../../services/agents/operator-registration.ts';
import { findAgentByHandle } from '../../services/agents/find-by-handle.ts';
import { setOutgoingPolicy } from '../../services/agents/outgoing-policy.ts';
import { eraseCommand, erasureCommand } from './erasure.ts';
import { exportCommand, exportsCommand } from './export.ts';
import { writing } from '../actions.ts';
import type { CommandIo } from '../io.ts';
import { listCommand, showCommand, toStoredName } from '../lists.ts';
import { resultCommand } from '../output.ts';

interface CreateOptions extends Pick<
  OperatorRegistration,
  'visibility' | 'scope' | 'member' | 'description'
> {
  createOwner?: boolean;
  displayName?: string;
  inboundPolicy?: OperatorRegistration['inbound_policy'];
}

/** `ams agent …` */
export function agentCommand(io: CommandIo): Command {
  const create = resultCommand('create', 'register an agent')
    .argument('<owner.agent_name>')
    .option('--create-owner', 'create an account for the owner if it does not exist')
    .option('--display-name <text>', 'default: the agent name')
    .option('--description <text>')
    .addOption(
      new Option('--visibility <visibility>', 'which agents can see it; unlisted: those that know its handle')
        .choices(visibilities)
        .default(defaultVisibility),
    )
    .addOption(
      new Option('--inbound-policy <policy>', 'which agents can write to it')
        .choices(inboundPolicies)
        .default('contacts_only'),
    )
    .addOption(
      new Option(
        '--scope <scope>',
        'default: personal for a person, otherwise member with --member, or shared',
      ).choices(localScopes),
    )
    .option('--member <username>', 'the person that an agent with scope member belongs to')
    .action(
      writing(io, async (work, handle: string, options: CreateOptions) => {
        const { visibility, scope, member, description } = options;
        const {
          displayName: display_name,
          inboundPolicy: inbound_policy,
          createOwner: create_owner,
        } = options;
        const names = { handle, display_name, description, create_owner };
        const input = { ...names, visibility, inbound_policy, scope, member };
        const agent = await registerAgentAsOperator(work, input);
        const warning = warnIfUnreachable(agent);
        if (warning) io.log(`${warning}\n`);
        return presentAgent(agent);
      }),
    );
  const outgoing = resultCommand('outgoing', 'set what a person reviews before the agent sends it')
    .argument('<handle>')
    .addArgument(new Argument('<policy>', 'what is reviewed').choices(outgoingPolicies))
    .action(
      writing(io, async (work, handle: string, policy: OutgoingPolicy) => {
        const found = await findAgentByHandle(work, handle);
        await setOutgoingPolicy(work, found, policy);
        return { handle: found.canonical_handle, outgoing_policy: policy };
      }),
    );
  const list = listCommand(
    io,
    { field: 'agents', description: 'list the agents by handle' },
    (lists, { owner, retired = false, ...page }) =>
      lists.listAgents({ ...page, owner: owner === undefined ? null : toStoredName(owner), retired }),
  )
    .option('--owner <name>', 'only agents of this account or organization')
    .option('--retired', 'also retired agents');
  const show = showCommand(io, { kind: 'agent', argument: '<handle>' }, (lists, handle) =>
    lists.findAgent(toStoredName(handle)),
  );
  return new Command('agent')
    .description('manage agents')
    .addCommand(create)
    .addCommand(outgoing)
    .addCommand(list)
    .addCommand(show)
    .addCommand(exportCommand(io))
    .addCommand(exportsCommand(io))
    .addCommand(eraseCommand(io))
    .addCommand(erasureCommand(io));
}
