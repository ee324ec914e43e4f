import type { Command } from 'commander';
import type { CommandIo } from '../io.ts';
import { listCommand, showCommand, toStoredName } from '../lists.ts';

/** `ams account list` */
export const listAccountsCommand = (io: CommandIo): Command =>
  listCommand(
    io,
    { field: 'accounts', description: 'list the accounts of people by name' },
    (lists, { after, limit }) => lists.listAccounts({ after: toStoredName(after), limit }),
  );

/** `ams account show` */
export const showAccountCommand = (io: CommandIo): Command =>
  showCommand(io, { kind: 'account', argument: '<username>' }, (lists, name) =>
    lists.findAccount(toStoredName(name)),
  );

/** `ams org list` */
export const listOrganizationsCommand = (io: CommandIo): Command =>
  listCommand(
    io,
    { field: 'organizations', description: 'list the organizations by name' },
    (lists, { after, limit }) => lists.listOrganizations({ after: toStoredName(after), limit }),
  );

/** `ams org show` */
export const showOrganizationCommand = (io: CommandIo): Command =>
  showCommand(io, { kind: 'organization', argument: '<slug>' }, (lists, name) =>
    lists.findOrganization(toStoredName(name)),
  );
