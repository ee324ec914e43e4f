import { addOwnEntriesInput } from '../../packages/core/src/inputs/contacts.ts';
import { z } from 'zod';
import { addAllowlistEntry, listEntries, removeAllowlistEntry } from '../services/contacts/allowlist.ts';
import { blockAgentOperation } from './contacts/block-agent.ts';
import { listBlocksOperation } from './contacts/list-blocks.ts';
import { unblockAgentOperation } from './contacts/unblock-agent.ts';
import { defineOperation, type Operation } from './define.ts';
import { allowlistEntry } from '../../packages/core/src/inputs/fields.ts';

const output = z.object({
  entries: z.array(z.string()).describe('All entries of your allowlist, in alphabetical order.'),
});
const example = ['globex.*'];

/** Operations of REST under paths and in shapes that clients of other services know. Each does what the one of the catalogue does. */
export const aliases: readonly Operation[] = [
  defineOperation({
    name: 'list_own_allowlist',
    summary: 'List your allowlist',
    scope: 'contacts:read',
    kind: 'read',
    input: z.strictObject({}),
    output,
    run: async (work) => ({ entries: await listEntries(work) }),
    rest: { method: 'GET', path: '/agents/me/allowlist', status: 200 },
    errors: [],
    example: { input: {}, output: { entries: example } },
  }),
  defineOperation({
    name: 'add_own_allowlist_entries',
    summary: 'Add agents, or all agents of owners, to your allowlist',
    scope: 'contacts:write',
    kind: 'write',
    input: addOwnEntriesInput,
    output,
    async run(work, { entries }) {
      for (const entry of entries) await addAllowlistEntry(work, entry);
      return { entries: await listEntries(work) };
    },
    rest: { method: 'POST', path: '/agents/me/allowlist', status: 200, idempotency: 'accepted' },
    errors: ['INVALID_HANDLE'],
    example: { input: { entries: example }, output: { entries: example } },
  }),
  defineOperation({
    name: 'remove_own_allowlist_entry',
    summary: 'Remove an entry from your allowlist',
    scope: 'contacts:write',
    kind: 'write',
    input: z.strictObject({ entry: allowlistEntry }),
    output,
    async run(work, { entry }) {
      await removeAllowlistEntry(work, entry);
      return { entries: await listEntries(work) };
    },
    rest: { method: 'DELETE', path: '/agents/me/allowlist/{entry}', status: 200 },
    errors: ['NOT_FOUND', 'INVALID_HANDLE'],
    example: { input: { entry: 'globex.*' }, output: { entries: [] } },
  }),
  {
    ...listBlocksOperation,
    name: 'list_own_blocks',
    rest: { method: 'GET', path: '/agents/me/blocks', status: 200 },
  },
  {
    ...blockAgentOperation,
    name: 'add_own_block',
    rest: { method: 'POST', path: '/agents/me/blocks', status: 201, idempotency: 'accepted' },
  },
  {
    ...unblockAgentOperation,
    name: 'remove_own_block',
    rest: { method: 'DELETE', path: '/agents/me/blocks/{handle}', status: 204 },
  },
];
