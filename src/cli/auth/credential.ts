import { system } from '../../../packages/core/src/domain/auth/audit.ts';
import { Command } from 'commander';
import type { Scope } from '../../../packages/core/src/domain/auth/scopes.ts';
import {
  createCredential,
  listCredentials,
  revokeCredential,
  rotateCredential,
} from '../../services/auth/credentials.ts';
import { printResult, resultCommand } from '../output.ts';
import { publishRevocations, withCore, operator } from '../core.ts';
import type { CommandIo } from '../io.ts';
import { scopesOption } from './scopes-option.ts';

/** `ams credential …` */
export function credentialCommand(io: CommandIo): Command {
  const create = resultCommand('create', 'create a credential for an agent; its secret cannot be shown again')
    .argument('<handle>')
    .addOption(scopesOption())
    .action(async (handle: string, options: { scopes: Scope[]; json?: boolean }) => {
      const credential = await withCore(io, ({ unitOfWork }) =>
        unitOfWork.write(operator(), (work) => createCredential(work, { handle, scopes: options.scopes })),
      );
      printResult(io, options, credential);
    });

  const list = resultCommand('list', 'list the credentials of an agent, including revoked ones')
    .argument('<handle>')
    .action(async (handle: string, options: { json?: boolean }) => {
      const credentials = await withCore(io, ({ unitOfWork }) =>
        unitOfWork.read(system, (work) => listCredentials(work, handle)),
      );
      printResult(io, options, options.json ? { credentials } : credentials);
    });

  const revoke = resultCommand('revoke', 'revoke a credential and its tokens')
    .argument('<client_id>')
    .action(async (client_id: string, options: { json?: boolean }) => {
      await withCore(io, async (core) => {
        const ended = await core.unitOfWork.write(operator(), (work) => revokeCredential(work, client_id));
        await publishRevocations(core, ended, io);
      });
      printResult(io, options, { client_id, revoked: true });
    });

  const rotate = resultCommand(
    'rotate',
    'replace the secret of a credential; the previous one counts for 24 hours more',
  )
    .argument('<client_id>')
    .option('--end-previous', 'end the previous secret and its tokens at once')
    .action(async (client_id: string, options: { endPrevious?: boolean; json?: boolean }) => {
      const credential = await withCore(io, async (core) => {
        const { ended, ...rotated } = await core.unitOfWork.write(operator(), (work) =>
          rotateCredential(work, { client_id, end_previous: options.endPrevious === true }),
        );
        await publishRevocations(core, ended, io);
        return rotated;
      });
      printResult(io, options, credential);
    });

  return new Command('credential')
    .description('manage client credentials of agents')
    .addCommand(create)
    .addCommand(list)
    .addCommand(revoke)
    .addCommand(rotate);
}
