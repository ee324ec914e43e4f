import { Argument, Command, Option } from 'commander';
import type { InviteMember } from '../../services/people/membership-invitations.ts';
import {
  createOrganization,
  inviteAsOperator,
  listInvitationsAsOperator,
  listMembers,
  type Membership,
  removeFromOrganization,
  revokeInvitationAsOperator,
  revokeLinkAsOperator,
  setRole,
} from '../../services/people/organizations.ts';
import { setNameAsOperator } from '../../services/people/display-names.ts';
import { reading, revoking, writing } from '../actions.ts';
import type { CommandIo } from '../io.ts';
import { integerInRange } from '../option-values.ts';
import { listCommand, showCommand, toStoredName } from '../lists.ts';
import { resultCommand } from '../output.ts';

/** `ams org …` */
export function orgCommand(io: CommandIo): Command {
  const create = resultCommand('create', 'create an organization')
    .argument('<slug>')
    .option('--name <name>', 'name that others see beside the slug')
    .action(
      writing(io, async (work, slug: string, { name: text }: { name?: string }) => {
        const created = await createOrganization(work, slug);
        if (text === undefined) return created;
        const named = await setNameAsOperator(work, { kind: 'organization', name: slug, text });
        return { ...created, name: named.display_name };
      }),
    );

  const list = listCommand(
    io,
    { field: 'organizations', description: 'list the organizations by name' },
    (lists, page) => lists.listOrganizations(page),
  );

  const show = showCommand(io, { kind: 'organization', argument: '<slug>' }, (lists, name) =>
    lists.findOrganization(toStoredName(name)),
  );

  const setName = resultCommand('set-name', 'set the name of an organization; an empty one removes it')
    .argument('<slug>')
    .argument('<name>')
    .action(
      writing(io, async (work, slug: string, text: string) => {
        const named = await setNameAsOperator(work, { kind: 'organization', name: slug, text });
        return { slug: named.name, name: named.display_name };
      }),
    );

  const changeRole = resultCommand('role', 'change the role of a member')
    .argument('<slug>')
    .argument('<username>')
    .addArgument(new Argument('<role>', 'the new role').choices(['admin', 'member']))
    .action(
      revoking(io, async (work, slug: string, username: string, role: Membership['role']) => {
        const { membership, ended } = await setRole(work, { slug, username, role });
        return { ...membership, ended };
      }),
    );

  const remove = resultCommand('remove', "remove a member; the person's access ends at once")
    .argument('<slug>')
    .argument('<username>')
    .action(
      revoking(io, async (work, slug: string, username: string) => {
        const { membership, ended } = await removeFromOrganization(work, { slug, username });
        return { ...membership, ended };
      }),
    );

  const members = resultCommand('members', 'list the members of an organization')
    .argument('<slug>')
    .action(reading(io, (work, slug: string) => listMembers(work, slug)));

  const org = new Command('org').description('manage organizations and their members');
  for (const command of [create, list, show, setName, ...invitationCommands(io), changeRole, remove, members])
    org.addCommand(command);
  return org;
}

/** Inviting, listing the invitations, and revoking one. */
function invitationCommands(io: CommandIo): Command[] {
  const invite = resultCommand('invite', 'invite a person, who accepts in the console within 14 days')
    .alias('add')
    .argument('<slug>')
    .argument('<username>')
    .addOption(
      new Option('--role <role>', 'role of the person').choices(['admin', 'member']).default('member'),
    )
    .action(
      writing(io, (work, slug: string, username: string, { role }: Pick<InviteMember, 'role'>) =>
        inviteAsOperator(work, { slug, username, role }),
      ),
    );

  const invitations = resultCommand('invitations', 'list the pending invitations of an organization')
    .argument('<slug>')
    .action(reading(io, (work, slug: string) => listInvitationsAsOperator(work, slug), 'invitations'));

  const revoke = resultCommand('revoke', 'revoke an invitation to an organization')
    .argument('<slug>')
    .argument('<username>')
    .action(
      writing(io, (work, slug: string, username: string) =>
        revokeInvitationAsOperator(work, { slug, username }),
      ),
    );

  const revokeLink = resultCommand('revoke-link', 'revoke an invitation by link to an organization')
    .argument('<slug>')
    .argument('<link>', 'its number in the list of invitations', integerInRange(1, Number.MAX_SAFE_INTEGER))
    .action(
      writing(io, (work, slug: string, number: number) => revokeLinkAsOperator(work, { slug, number })),
    );
  return [invite, invitations, revoke, revokeLink];
}
