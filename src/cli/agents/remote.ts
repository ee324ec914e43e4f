import { Command } from 'commander';
import { findAgentByHandle } from '../../services/agents/find-by-handle.ts';
import { createRemoteInvitation } from '../../services/remote/invitations.ts';
import { operator, withCore } from '../core.ts';
import type { CommandIo } from '../io.ts';
import { printResult, resultCommand } from '../output.ts';

/** `ams remote …` */
export function remoteCommand(io: CommandIo): Command {
  const invite = resultCommand(
    'invite',
    'invite an agent of another installation to talk with an agent here; the address cannot be shown again',
  )
    .argument('<handle>', 'the agent here')
    .action(async (handle: string, options: { json?: boolean }) => {
      const invitation = await withCore(io, ({ unitOfWork }) =>
        unitOfWork.write(operator(), async (work) =>
          createRemoteInvitation(work, (await findAgentByHandle(work, handle)).id, null),
        ),
      );
      printResult(io, options, invitation);
    });
  return new Command('remote')
    .description('connect agents with those of other installations')
    .addCommand(invite);
}
