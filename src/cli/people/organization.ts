import { Argument, Command, Option } from 'commander';
import {
  addToOrganization,
  createOrganization,
  listMembers,
  type Membership,
  removeFromOrganization,
  setRole,
} from '../../services/people/organizations.ts';
import type { Revocation } from '../../services/auth/tokens.ts';
import { printResult, resultCommand } from '../output.ts';
import { publishRevocations, withCore } from '../core.ts';
import type { CommandIo } from '../io.ts';

type Output = { json?: boolean };

/** `ams org …` */
export function orgCommand(io: CommandIo): Command {
  /** Changes who belongs to an organization, and ends at running processes what this took away. */
  function change(
    options: Output,
    run: (
      work: Parameters<typeof removeFromOrganization>[0],
    ) => Promise<{ membership: object; ended: readonly Revocation[] }>,
  ): Promise<void> {
    return withCore(io, async (core) => {
      const changed = await core.unitOfWork.writeAsSystem(run);
      await publishRevocations(core, changed.ended, io);
      printResult(io, options, changed.membership);
    });
  }

  const create = resultCommand('create', 'found an organization')
    .argument('<slug>')
    .action(async (slug: string, options: Output) => {
      const organization = await withCore(io, ({ unitOfWork }) =>
        unitOfWork.writeAsSystem((work) => createOrganization(work, slug)),
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
    .action((slug: string, username: string, options: Pick<Membership, 'role'> & Output) =>
      change(options, (work) => addToOrganization(work, { slug, username, role: options.role })),
    );

  const changeRole = resultCommand('role', 'give a member another role')
    .argument('<slug>')
    .argument('<username>')
    .addArgument(new Argument('<role>').choices(['admin', 'member']))
    .action((slug: string, username: string, wanted: Membership['role'], options: Output) =>
      change(options, (work) => setRole(work, { slug, username, role: wanted })),
    );

  const remove = resultCommand('remove', 'take a person out; what its agents may do there ends at once')
    .argument('<slug>')
    .argument('<username>')
    .action((slug: string, username: string, options: Output) =>
      change(options, (work) => removeFromOrganization(work, { slug, username })),
    );

  const list = resultCommand('list', 'list the members of an organization')
    .argument('<slug>')
    .action(async (slug: string, options: Output) => {
      const members = await withCore(io, ({ unitOfWork }) =>
        unitOfWork.readAsSystem((repositories) => listMembers(repositories, slug)),
      );
      printResult(io, options, members);
    });

  const org = new Command('org').description('organizations and their members');
  for (const command of [create, add, changeRole, remove, list]) org.addCommand(command);
  return org;
}
