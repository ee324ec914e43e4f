import { system } from '../../../packages/core/src/domain/auth/audit.ts';
import { Command } from 'commander';
import { createInvitation, listInvitations, revokeInvitation } from '../../services/people/invitations.ts';
import { printResult, resultCommand } from '../output.ts';
import { withCore, operator } from '../core.ts';
import type { CommandIo } from '../io.ts';
import { integerInRange } from '../option-values.ts';

const dayMs = 24 * 60 * 60 * 1000;

/** `ams invitation …` */
export function invitationCommand(io: CommandIo): Command {
  const create = resultCommand('create', 'create an invitation to sign up; its code cannot be shown again')
    .option('--uses <n>', 'how many people can sign up with it', integerInRange(1, 10_000), 1)
    .option('--expires-in <days>', 'lifetime in days', integerInRange(1, 365), 14)
    .action(async (options: { uses: number; expiresIn: number; json?: boolean }) => {
      const { uses, expiresIn: days } = options;
      const invitation = await withCore(io, ({ unitOfWork }) =>
        unitOfWork.write(operator(), (work) => createInvitation(work, { uses, life_ms: days * dayMs })),
      );
      printResult(io, options, invitation);
    });

  const list = resultCommand('list', 'list all invitations, with the people who signed up').action(
    async (options: { json?: boolean }) => {
      const invitations = await withCore(io, ({ unitOfWork }) => unitOfWork.read(system, listInvitations));
      printResult(io, options, options.json ? { invitations } : invitations);
    },
  );

  const revoke = resultCommand('revoke', 'revoke an invitation; existing accounts stay')
    .argument('<id>')
    .action(async (id: string, options: { json?: boolean }) => {
      await withCore(io, ({ unitOfWork }) =>
        unitOfWork.write(operator(), (work) => revokeInvitation(work, id)),
      );
      printResult(io, options, { id, revoked: true });
    });

  const invitation = new Command('invitation').description('manage invitations to sign up (SIGNUP=invite)');
  for (const command of [create, list, revoke]) invitation.addCommand(command);
  return invitation;
}
