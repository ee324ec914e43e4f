import { z } from 'zod';
import { addOwnEntriesInput } from '../../../../core/src/inputs/contacts.ts';
import { allowlistEntry } from '../../../../core/src/inputs/fields.ts';
import { type Call, defineHandler } from '../core/state.ts';
import { contactHandlers } from './contacts.ts';

const listEntries = ({ me }: Call) => ({ entries: [...me.allowlist.keys()].sort() });

/** The paths of `me`, which clients of other services know. */
export const aliasHandlers = {
  list_own_allowlist: defineHandler(z.strictObject({}), listEntries),
  add_own_allowlist_entries: defineHandler(addOwnEntriesInput, (call, { entries }) => {
    for (const entry of entries) void contactHandlers.add_allowlist_entry.run(call, { entry });
    return listEntries(call);
  }),
  remove_own_allowlist_entry: defineHandler(z.strictObject({ entry: allowlistEntry }), (call, input) => {
    void contactHandlers.remove_allowlist_entry.run(call, input);
    return listEntries(call);
  }),
  list_own_blocks: contactHandlers.list_blocks,
  add_own_block: contactHandlers.block_agent,
  remove_own_block: contactHandlers.unblock_agent,
};
