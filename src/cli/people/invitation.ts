import { Command } from 'commander';
import { createInvitation, listInvitations, revokeInvitation } from '../../services/people/invitations.ts';
import { reading, writing } from '../actions.ts';
import type { CommandIo } from '../io.ts';
import { integerInRange } from '../option-values.ts';
import { resultCommand } from '../output.ts';

const dayMs = 24 * 60 * 60 * 1000;

/** `ams invitation …` */
export function invitationCommand(io: CommandIo): Command {
  const create = resultCommand('create', 'create an invitation to sign up; its code cannot be shown again')
    .option('--uses <n>', 'how many people can sign up with it', integerInRange(1, 10_000), 1)
    .option('--expires-in <days>', 'lifetime in days', integerInRange(1, 365), 14)
    .action(
      writing(io, (work, { uses, expiresIn: days }: { uses: number; expiresIn: number }) =>
        createInvitation(work, { uses, life_ms: days * dayMs }),
      ),
    );

  const list = resultCommand('list', 'list all invitations, with the people who signed up').action(
    reading(io, (work) => listInvitations(work), 'invitations'),
  );

  const revoke = resultCommand('revoke', 'revoke an invitation; existing accounts stay')
    .argument('<id>')
    .action(
      writing(io, async (work, id: string) => {
        await revokeInvitation(work, id);
        return { id, revoked: true };
      }),
    );

  return new Command('invitation')
    .description('manage invitations to sign up (SIGNUP=invite)')
    .addCommand(create)
    .addCommand(list)
    .addCommand(revoke);
}
