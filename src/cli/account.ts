import { Command } from 'commander';
import { createAccount, setPassword, signOutEverywhere } from '../services/accounts.ts';
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

  const password = resultCommand('password', 'give a person another password; every session of theirs ends')
    .argument('<username>')
    .requiredOption('--password-stdin', 'read the password from standard input')
    .action(async (username: string, options: { json?: boolean }) => {
      const password_hash = await hashPassword(await readSecret(io), username.toLowerCase());
      const changed = await withCore(io, ({ unitOfWork }) =>
        unitOfWork.administer((work) => setPassword(work, { username, password_hash })),
      );
      printResult(io, options, changed);
    });

  const signOut = resultCommand('sign-out', 'end every session of a person')
    .argument('<username>')
    .action(async (username: string, options: { json?: boolean }) => {
      const ended = await withCore(io, ({ unitOfWork }) =>
        unitOfWork.administer((work) => signOutEverywhere(work, username)),
      );
      printResult(io, options, ended);
    });

  const account = new Command('account').description("people's accounts");
  for (const command of [create, password, signOut]) account.addCommand(command);
  return account;
}
