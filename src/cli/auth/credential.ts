import { Command } from 'commander';
import type { Scope } from '../../../packages/core/src/domain/auth/scopes.ts';
import {
  createCredential,
  listCredentials,
  revokeCredential,
  rotateCredential,
} from '../../services/auth/credentials.ts';
import { reading, revoking, writing } from '../actions.ts';
import type { CommandIo } from '../io.ts';
import { resultCommand } from '../output.ts';
import { scopesOption } from './scopes-option.ts';

/** `ams credential …` */
export function credentialCommand(io: CommandIo): Command {
  const create = resultCommand('create', 'create a credential for an agent; its secret cannot be shown again')
    .argument('<handle>')
    .addOption(scopesOption())
    .action(
      writing(io, (work, handle: string, { scopes }: { scopes: Scope[] }) =>
        createCredential(work, { handle, scopes }),
      ),
    );

  const list = resultCommand('list', 'list the credentials of an agent, including revoked ones')
    .argument('<handle>')
    .action(reading(io, (work, handle: string) => listCredentials(work, handle), 'credentials'));

  const revoke = resultCommand('revoke', 'revoke a credential and its tokens')
    .argument('<client_id>')
    .action(
      revoking(io, async (work, client_id: string) => {
        const ended = await revokeCredential(work, client_id);
        return { client_id, revoked: true, ended };
      }),
    );

  const rotate = resultCommand(
    'rotate',
    'replace the secret of a credential; the previous one works for 24 hours more',
  )
    .argument('<client_id>')
    .option('--end-previous', 'end the previous secret and its tokens at once')
    .action(
      revoking(
        io,
        (work, client_id: string, { endPrevious: end_previous = false }: { endPrevious?: boolean }) =>
          rotateCredential(work, { client_id, end_previous }),
      ),
    );

  return new Command('credential')
    .description('manage client credentials of agents')
    .addCommand(create)
    .addCommand(list)
    .addCommand(revoke)
    .addCommand(rotate);
}
