import { z } from 'zod';
import { allowlistEntrySchema } from '../../../packages/core/src/records/contact.ts';
import { listAllowlist } from '../../services/contacts/allowlist.ts';
import { defineOperation } from '../define.ts';
import { exampleAllowlistEntry } from '../../../packages/core/src/records/examples.ts';
import { nextCursor, pageFields } from '../../../packages/core/src/inputs/fields.ts';

export const listAllowlistOperation = defineOperation({
  name: 'list_allowlist',
  summary: 'List your allowlist',
  scope: 'contacts:read',
  kind: 'read',
  input: z.strictObject(pageFields(100, 50)),
  output: z.object({
    allowlist: z.array(allowlistEntrySchema).describe('In alphabetical order.'),
    next_cursor: nextCursor,
  }),
  run: listAllowlist,
  rest: { method: 'GET', path: '/allowlist', forms: 'short-and-long', status: 200 },
  errors: [],
  example: { input: { limit: 50 }, output: { allowlist: [exampleAllowlistEntry] } },
});
