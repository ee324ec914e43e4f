import { Argument, Command, Option } from 'commander';
import {
  addToOrganization,
  createOrganization,
  listMembers,
  type Membership,
  removeFromOrganization,
  setRole,
} from '../services/organizations.ts';
import { printResult, resultCommand } from './command.ts';
import { announce, withCore } from './core.ts';
import type { CommandIo } from './io.ts';

/** `ams org …` */
export function orgCommand(io: CommandIo): Command {
  const create = resultCommand('create', 'found an organization')
    .argument('<slug>')
    .action(async (slug: string, options: { json?: boolean }) => {
      const organization = await withCore(io, ({ unitOfWork }) =>
        unitOfWork.administer((work) => createOrganization(work, slug)),
      );
      printResult(io, options, organization);
    });

  const role = new Option('--role <role>', 'what the member may do')
    .choices(['admin', 'member'])
    .default('member');
  const add = resultCommand('add', 'make a person a member, or give a member another role')
    .argument('<slug>')
    .argument('<username>')
    .addOption(role)
    .action(
      async (slug: string, username: string, options: Pick<Membership, 'role'> & { json?: boolean }) => {
        await withCore(io, async (core) => {
          const change = { slug, username, role: options.role };
          const changed = await core.unitOfWork.administer((work) => addToOrganization(work, change));
          await announce(core, changed.ended, io);
          printResult(io, options, changed.membership);
        });
      },
    );

  const changeRole = resultCommand('role', 'give a member another role')
    .argument('<slug>')
    .argument('<username>')
    .addArgument(new Argument('<role>').choices(['admin', 'member']))
    .action(
      async (slug: string, username: string, wanted: Membership['role'], options: { json?: boolean }) => {
        await withCore(io, async (core) => {
          const change = { slug, username, role: wanted };
          const changed = await core.unitOfWork.administer((work) => setRole(work, change));
          await announce(core, changed.ended, io);
          printResult(io, options, changed.membership);
        });
      },
    );

  const remove = resultCommand('remove', 'take a person out; what its agents may do there ends at once')
    .argument('<slug>')
    .argument('<username>')
    .action(async (slug: string, username: string, options: { json?: boolean }) => {
      await withCore(io, async (core) => {
        const change = { slug, username };
        const changed = await core.unitOfWork.administer((work) => removeFromOrganization(work, change));
        await announce(core, changed.ended, io);
        printResult(io, options, changed.membership);
      });
    });

  const list = resultCommand('list', 'list the members of an organization')
    .argument('<slug>')
    .action(async (slug: string, options: { json?: boolean }) => {
      const members = await withCore(io, ({ unitOfWork }) =>
        unitOfWork.consult((repositories) => listMembers(repositories, slug)),
      );
      printResult(io, options, members);
    });

  const org = new Command('org').description('organizations and their members');
  for (const command of [create, add, changeRole, remove, list]) org.addCommand(command);
  return org;
}
