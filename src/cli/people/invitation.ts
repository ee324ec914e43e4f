import { Command } from 'commander';
import { createInvitation, listInvitations, revokeInvitation } from '../../services/people/invitations.ts';
import { printResult, resultCommand } from '../output.ts';
import { withCore } from '../core.ts';
import type { CommandIo } from '../io.ts';
import { integerInRange } from '../option-values.ts';

const dayMs = 24 * 60 * 60 * 1000;

/** `ams invitation …` */
export function invitationCommand(io: CommandIo): Command {
  const create = resultCommand('create', 'invite somebody to sign up; the code is shown this once')
    .option('--uses <n>', 'how many people can sign up with it', integerInRange(1, 10_000), 1)
    .option('--expires-in <days>', 'for how many days', integerInRange(1, 365), 14)
    .action(async (options: { uses: number; expiresIn: number; json?: boolean }) => {
      const { uses, expiresIn: days } = options;
      const invitation = await withCore(io, ({ unitOfWork }) =>
        unitOfWork.writeAsSystem((work) => createInvitation(work, { uses, life_ms: days * dayMs })),
      );
      printResult(io, options, invitation);
    });

  const list = resultCommand('list', 'every invitation, and who signed up with it').action(
    async (options: { json?: boolean }) => {
      const invitations = await withCore(io, ({ unitOfWork }) => unitOfWork.readAsSystem(listInvitations));
      printResult(io, options, options.json ? { invitations } : invitations);
    },
  );

  const revoke = resultCommand('revoke', 'end an invitation; who signed up with it stays')
    .argument('<id>')
    .action(async (id: string, options: { json?: boolean }) => {
      await withCore(io, ({ unitOfWork }) => unitOfWork.writeAsSystem((work) => revokeInvitation(work, id)));
      printResult(io, options, { id, revoked: true });
    });

  const invitation = new Command('invitation').description('invitations to sign up (SIGNUP=invite)');
  for (const command of [create, list, revoke]) invitation.addCommand(command);
  return invitation;
}
