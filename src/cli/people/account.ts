import { Command, Option } from 'commander';
import { createAccount, setPassword } from '../../services/people/accounts.ts';
import { setNameAsOperator } from '../../services/people/display-names.ts';
import { requireOwner } from '../../services/people/owners.ts';
import { hashPassword } from '../../services/people/passwords.ts';
import { signOutEverywhere } from '../../services/people/sessions.ts';
import { printing, writing } from '../actions.ts';
import { operator, publishRevocations, withCore } from '../core.ts';
import { askNewPassword, type CommandIo, readSecret } from '../io.ts';
import { listCommand, showCommand, toStoredName } from '../lists.ts';
import { resultCommand } from '../output.ts';

interface CreateOptions {
  displayName?: string;
  passwordStdin?: boolean;
  password?: boolean;
}

interface SignOutOptions {
  apps?: boolean;
}

const apps = () => new Option('--apps', 'also disconnect all apps of the person');

const readNewPassword = (io: CommandIo, { passwordStdin }: Pick<CreateOptions, 'passwordStdin'>) =>
  passwordStdin ? readSecret(io) : askNewPassword(io);

/** Signs a person out everywhere, and sets the new password, if any, in the same transaction. */
function signOut(io: CommandIo, username: string, options: SignOutOptions, password_hash?: string) {
  return withCore(io, async (core) => {
    const { name, ended, ...counts } = await core.unitOfWork.write(operator(), async (work) => {
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
  const create = resultCommand('create', 'create an account for a person')
    .argument('<username>')
    .option('--display-name <name>', 'name that others see beside the username')
    .option(
      '--password-stdin',
      'read the password from standard input; without a password, the person cannot sign in yet',
    )
    .option('--password', 'ask for the password on the terminal')
    .action(
      printing(io, async (username: string, options: CreateOptions) => {
        const password_hash =
          options.passwordStdin || options.password
            ? await hashPassword(await readNewPassword(io, options), username.toLowerCase())
            : null;
        return withCore(io, ({ unitOfWork }) =>
          unitOfWork.write(operator(), async (work) => {
            const created = await createAccount(work, { username, password_hash });
            if (options.displayName === undefined) return created;
            const named = { kind: 'account' as const, name: username, text: options.displayName };
            return { ...created, display_name: (await setNameAsOperator(work, named)).display_name };
          }),
        );
      }),
    );

  const list = listCommand(
    io,
    { field: 'accounts', description: 'list the accounts of people by name' },
    (lists, page) => lists.listAccounts(page),
  );

  const show = showCommand(io, { kind: 'account', argument: '<username>' }, (lists, name) =>
    lists.findAccount(toStoredName(name)),
  );

  const password = resultCommand('password', 'set the password of a person and end all their sessions')
    .argument('<username>')
    .option('--password-stdin', 'read the password from standard input; by default, ask on the terminal')
    .addOption(apps())
    .action(
      printing(io, async (username: string, options: SignOutOptions & CreateOptions) =>
        signOut(
          io,
          username,
          options,
          await hashPassword(await readNewPassword(io, options), username.toLowerCase()),
        ),
      ),
    );

  const setName = resultCommand('set-name', 'set the display name of a person; an empty one removes it')
    .argument('<username>')
    .argument('<name>')
    .action(
      writing(io, async (work, username: string, text: string) => {
        const named = await setNameAsOperator(work, { kind: 'account', name: username, text });
        return { username: named.name, display_name: named.display_name };
      }),
    );

  const signOutCommand = resultCommand('sign-out', 'end all sessions of a person')
    .argument('<username>')
    .addOption(apps())
    .action(printing(io, (username: string, options: SignOutOptions) => signOut(io, username, options)));

  const account = new Command('account').description('manage accounts');
  for (const command of [create, list, show, setName, password, signOutCommand]) account.addCommand(command);
  return account;
}
