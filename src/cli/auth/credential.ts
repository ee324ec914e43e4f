import { Command } from 'commander';
import type { Scope } from '../../domain/auth/scopes.ts';
import { createCredential, listCredentials, revokeCredential } from '../../services/auth/credentials.ts';
import { printResult, resultCommand } from '../output.ts';
import { publishRevocations, withCore } from '../core.ts';
import type { CommandIo } from '../io.ts';
import { scopesOption } from './scopes-option.ts';

/** `ams credential …` */
export function credentialCommand(io: CommandIo): Command {
  const create = resultCommand('create', 'make a client for an agent; its secret is shown this once')
    .argument('<handle>')
    .addOption(scopesOption())
    .action(async (handle: string, options: { scopes: Scope[]; json?: boolean }) => {
      const credential = await withCore(io, ({ unitOfWork }) =>
        unitOfWork.writeAsSystem((work) => createCredential(work, { handle, scopes: options.scopes })),
      );
      printResult(io, options, credential);
    });

  const list = resultCommand('list', "an agent's clients, revoked ones too")
    .argument('<handle>')
    .action(async (handle: string, options: { json?: boolean }) => {
      const credentials = await withCore(io, ({ unitOfWork }) =>
        unitOfWork.readAsSystem((repositories) => listCredentials(repositories, handle)),
      );
      printResult(io, options, options.json ? { credentials } : credentials);
    });

  const revoke = resultCommand('revoke', 'end a client and its tokens')
    .argument('<client_id>')
    .action(async (client_id: string, options: { json?: boolean }) => {
      await withCore(io, async (core) => {
        const ended = await core.unitOfWork.writeAsSystem((work) => revokeCredential(work, client_id));
        await publishRevocations(core, ended, io);
      });
      printResult(io, options, { client_id, revoked: true });
    });

  return new Command('credential')
    .description('clients of the client credentials flow, each bound to one agent')
    .addCommand(create)
    .addCommand(list)
    .addCommand(revoke);
}
