import type { Command } from 'commander';
import type { CommandIo } from '../io.ts';
import { listCommand, showCommand, toStoredName } from '../lists.ts';

/** `ams agent list` */
export const listAgentsCommand = (io: CommandIo): Command =>
  listCommand(
    io,
    { field: 'agents', description: 'list the agents by handle' },
    (lists, { after, limit, owner, retired = false }) =>
      lists.listAgents({
        after: toStoredName(after),
        limit,
        owner: owner === undefined ? null : toStoredName(owner),
        retired,
      }),
  )
    .option('--owner <name>', 'only agents of this account or organization')
    .option('--retired', 'also retired agents');

/** `ams agent show` */
export const showAgentCommand = (io: CommandIo): Command =>
  showCommand(io, { kind: 'agent', argument: '<handle>' }, (lists, handle) =>
    lists.findAgent(toStoredName(handle)),
  );
