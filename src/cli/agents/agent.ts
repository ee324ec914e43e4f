import { Command, Option } from 'commander';
import { agentScopes, inboundPolicies, visibilities } from '../../domain/agents/agents.ts';
import { presentAgent } from '../../presenters/agent.ts';
import {
  type OperatorRegistration,
  registerAgentAsOperator,
} from '../../services/agents/operator-registration.ts';
import { eraseCommand, erasureCommand } from './erasure.ts';
import { exportCommand, exportsCommand } from './export.ts';
import { printResult, resultCommand } from '../output.ts';
import { withCore } from '../core.ts';
import type { CommandIo } from '../io.ts';

interface CreateOptions extends Pick<
  OperatorRegistration,
  'visibility' | 'scope' | 'member' | 'description'
> {
  createOwner?: boolean;
  displayName?: string;
  inboundPolicy?: OperatorRegistration['inbound_policy'];
  json?: boolean;
}

/** `ams agent …` */
export function agentCommand(io: CommandIo): Command {
  const create = resultCommand('create', 'register an agent')
    .argument('<owner.agent_name>')
    .option('--create-owner', 'open an account for the owner when there is none of that name')
    .option('--display-name <text>', 'by default the agent name')
    .option('--description <text>')
    .addOption(new Option('--visibility <who>').choices(visibilities).default('private'))
    .addOption(
      new Option('--inbound-policy <policy>', 'who may write to it first')
        .choices(inboundPolicies)
        .default('contacts_only'),
    )
    .addOption(new Option('--scope <scope>', 'by default what fits the owner').choices(agentScopes))
    .option('--member <username>', 'the person that an agent of the scope member is tied to')
    .action(async (handle: string, options: CreateOptions) => {
      const { visibility, scope, member, description } = options;
      const { displayName: display_name, inboundPolicy: inbound_policy, createOwner: create_owner } = options;
      const named = { handle, display_name, description, create_owner };
      const agent = await withCore(io, ({ unitOfWork }) =>
        unitOfWork.writeAsSystem((work) =>
          registerAgentAsOperator(work, { ...named, visibility, inbound_policy, scope, member }),
        ),
      );
      printResult(io, options, presentAgent(agent));
    });
  return new Command('agent')
    .description('agents')
    .addCommand(create)
    .addCommand(exportCommand(io))
    .addCommand(exportsCommand(io))
    .addCommand(eraseCommand(io))
    .addCommand(erasureCommand(io));
}
