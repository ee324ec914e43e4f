import { system } from '../../../packages/core/src/domain/auth/audit.ts';
import { Argument, Command, Option } from 'commander';
import {
  type InviteMember,
  inviteAsOperator,
  listInvitationsAsOperator,
  revokeInvitationAsOperator,
} from '../../services/people/membership-invitations.ts';
import {
  createOrganization,
  listMembers,
  type Membership,
  removeFromOrganization,
  setRole,
} from '../../services/people/organizations.ts';
import { setNameAsOperator } from '../../services/people/display-names.ts';
import type { Revocation } from '../../services/auth/tokens.ts';
import { printResult, resultCommand } from '../output.ts';
import { publishRevocations, withCore, operator } from '../core.ts';
import type { CommandIo } from '../io.ts';
import { listOrganizationsCommand, showOrganizationCommand } from './lists.ts';

type Output = { json?: boolean };

/** `ams org …` */
export function orgCommand(io: CommandIo): Command {
  /** Changes a membership, and publishes the revocations to running processes. */
  function change(
    options: Output,
    run: (
      work: Parameters<typeof removeFromOrganization>[0],
    ) => Promise<{ membership: object; ended: readonly Revocation[] }>,
  ): Promise<void> {
    return withCore(io, async (core) => {
      const changed = await core.unitOfWork.write(operator(), run);
      await publishRevocations(core, changed.ended, io);
      printResult(io, options, changed.membership);
    });
  }

  const create = resultCommand('create', 'create an organization')
    .argument('<slug>')
    .option('--name <name>', 'name that others see beside the slug')
    .action(async (slug: string, options: Output & { name?: string }) => {
      const organization = await withCore(io, ({ unitOfWork }) =>
        unitOfWork.write(operator(), async (work) => {
          const created = await createOrganization(work, slug);
          if (options.name === undefined) return created;
          const named = { kind: 'organization' as const, name: slug, text: options.name };
          return { ...created, name: (await setNameAsOperator(work, named)).display_name };
        }),
      );
      printResult(io, options, organization);
    });

  const setName = resultCommand('set-name', 'set the name of an organization; an empty one removes it')
    .argument('<slug>')
    .argument('<name>')
    .action(async (slug: string, text: string, options: Output) => {
      const named = await withCore(io, ({ unitOfWork }) =>
        unitOfWork.write(operator(), (work) =>
          setNameAsOperator(work, { kind: 'organization', name: slug, text }),
        ),
      );
      printResult(io, options, { slug: named.name, name: named.display_name });
    });

  const changeRole = resultCommand('role', 'change the role of a member')
    .argument('<slug>')
    .argument('<username>')
    .addArgument(new Argument('<role>').choices(['admin', 'member']))
    .action((slug: string, username: string, newRole: Membership['role'], options: Output) =>
      change(options, (work) => setRole(work, { slug, username, role: newRole })),
    );

  const remove = resultCommand('remove', "remove a member; the person's access ends at once")
    .argument('<slug>')
    .argument('<username>')
    .action((slug: string, username: string, options: Output) =>
      change(options, (work) => removeFromOrganization(work, { slug, username })),
    );

  const members = resultCommand('members', 'list the members of an organization')
    .argument('<slug>')
    .action(async (slug: string, options: Output) => {
      const listed = await withCore(io, ({ unitOfWork }) =>
        unitOfWork.read(system, (work) => listMembers(work, slug)),
      );
      printResult(io, options, listed);
    });

  const lists = [listOrganizationsCommand(io), showOrganizationCommand(io)];
  const org = new Command('org').description('manage organizations and their members');
  for (const command of [create, ...lists, setName, ...invitationCommands(io), changeRole, remove, members])
    org.addCommand(command);
  return org;
}

/** Inviting, listing the invitations, and revoking one. */
function invitationCommands(io: CommandIo): Command[] {
  const role = new Option('--role <role>', 'role of the person')
    .choices(['admin', 'member'])
    .default('member');
  const invite = resultCommand('invite', 'invite a person, who accepts in the console within 14 days')
    .alias('add')
    .argument('<slug>')
    .argument('<username>')
    .addOption(role)
    .action(async (slug: string, username: string, options: Pick<InviteMember, 'role'> & Output) => {
      const invitation = await withCore(io, ({ unitOfWork }) =>
        unitOfWork.write(operator(), (work) =>
          inviteAsOperator(work, { slug, username, role: options.role }),
        ),
      );
      printResult(io, options, invitation);
    });

  const invitations = resultCommand('invitations', 'list the pending invitations of an organization')
    .argument('<slug>')
    .action(async (slug: string, options: Output) => {
      const pending = await withCore(io, ({ unitOfWork }) =>
        unitOfWork.read(system, (work) => listInvitationsAsOperator(work, slug)),
      );
      printResult(io, options, options.json ? { invitations: pending } : pending);
    });

  const revoke = resultCommand('revoke', 'revoke an invitation to an organization')
    .argument('<slug>')
    .argument('<username>')
    .action(async (slug: string, username: string, options: Output) => {
      const revoked = await withCore(io, ({ unitOfWork }) =>
        unitOfWork.write(operator(), (work) => revokeInvitationAsOperator(work, { slug, username })),
      );
      printResult(io, options, revoked);
    });
  return [invite, invitations, revoke];
}
