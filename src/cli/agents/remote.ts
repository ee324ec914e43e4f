import { Command } from 'commander';
import { findAgentByHandle } from '../../services/agents/find-by-handle.ts';
import { createRemoteInvitation } from '../../services/remote/invitations.ts';
import { writing } from '../actions.ts';
import type { CommandIo } from '../io.ts';
import { resultCommand } from '../output.ts';

/** `ams remote …` */
export function remoteCommand(io: CommandIo): Command {
  const invite = resultCommand(
    'invite',
    'invite an agent of another installation to talk with an agent here; the address cannot be shown again',
  )
    .argument('<handle>', 'the agent here')
    .action(
      writing(io, async (work, handle: string) =>
        createRemoteInvitation(work, (await findAgentByHandle(work, handle)).id, null),
      ),
    );
  return new Command('remote')
    .description('connect agents with those of other installations')
    .addCommand(invite);
}
