import { Command } from 'commander';
import { createAccount } from '../services/accounts.ts';
import { hashPassword } from '../services/passwords.ts';
import { printResult, resultCommand } from './command.ts';
import { withCore } from './core.ts';
import { type CommandIo, readSecret } from './io.ts';

interface CreateOptions {
  passwordStdin?: boolean;
  json?: boolean;
}

/** `ams account …` */
export function accountCommand(io: CommandIo): Command {
  const create = resultCommand('create', "open a person's account")
    .argument('<username>')
    .option('--password-stdin', 'read the password from standard input; without it nobody can sign in yet')
    .action(async (username: string, options: CreateOptions) => {
      const password_hash = options.passwordStdin
        ? await hashPassword(await readSecret(io), username.toLowerCase())
        : null;
      const account = await withCore(io, ({ unitOfWork }) =>
        unitOfWork.administer((work) => createAccount(work, { username, password_hash })),
      );
      printResult(io, options, account);
    });
  return new Command('account').description("people's accounts").addCommand(create);
}
