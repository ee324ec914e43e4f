import { Command, Option } from 'commander';
import { createAccount, setPassword } from '../../services/people/accounts.ts';
import { requireOwner } from '../../services/people/owners.ts';
import { hashPassword } from '../../services/people/passwords.ts';
import { signOutEverywhere } from '../../services/people/sessions.ts';
import { printResult, resultCommand } from '../output.ts';
import { publishRevocations, withCore } from '../core.ts';
import { type CommandIo, readSecret } from '../io.ts';

interface CreateOptions {
  passwordStdin?: boolean;
  json?: boolean;
}

interface SignOutOptions {
  apps?: boolean;
  json?: boolean;
}

const apps = () => new Option('--apps', 'disconnect every app of the person too');

/** Signs a person out everywhere, in one go with giving them another password if one is given. */
function signOut(io: CommandIo, username: string, options: SignOutOptions, password_hash?: string) {
  return withCore(io, async (core) => {
    const { name, ended, ...counts } = await core.unitOfWork.writeAsSystem(async (work) => {
      const account = await requireOwner(work, username, 'account');
      if (password_hash !== undefined) await setPassword(work, account.id, password_hash);
      return {
        name: account.name,
        ...(await signOutEverywhere(work, account.id, { apps: options.apps ?? false })),
      };
    });
    await publishRevocations(core, ended, io);
    return { username: name, ...counts };
  });
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
        unitOfWork.writeAsSystem((work) => createAccount(work, { username, password_hash })),
      );
      printResult(io, options, account);
    });

  const password = resultCommand('password', 'give a person another password; every session of theirs ends')
    .argument('<username>')
    .requiredOption('--password-stdin', 'read the password from standard input')
    .addOption(apps())
    .action(async (username: string, options: SignOutOptions) => {
      const password_hash = await hashPassword(await readSecret(io), username.toLowerCase());
      printResult(io, options, await signOut(io, username, options, password_hash));
    });

  const signOutCommand = resultCommand('sign-out', 'end every session of a person')
    .argument('<username>')
    .addOption(apps())
    .action(async (username: string, options: SignOutOptions) => {
      printResult(io, options, await signOut(io, username, options));
    });

  const account = new Command('account').description("people's accounts");
  for (const command of [create, password, signOutCommand]) account.addCommand(command);
  return account;
}
