import { z } from 'zod';
import { allowlistEntrySchema } from '../../../packages/core/src/records/contact.ts';
import { listAllowlist } from '../../services/contacts/allowlist.ts';
import { defineOperation } from '../define.ts';
import { pageOf } from '../page-of.ts';
import { exampleAllowlistEntry } from '../../../packages/core/src/records/examples.ts';
import { pageFields } from '../../../packages/core/src/inputs/fields.ts';

export const listAllowlistOperation = defineOperation({
  name: 'list_allowlist',
  summary: 'List your allowlist',
  scope: 'contacts:read',
  kind: 'read',
  input: z.strictObject(pageFields(100, 50)),
  ...pageOf(
    'allowlist',
    z.array(allowlistEntrySchema).describe('In alphabetical order.'),
    listAllowlist,
    (entry) => entry,
  ),
  rest: { method: 'GET', path: '/allowlist', forms: 'short-and-long', status: 200 },
  errors: [],
  example: { input: { limit: 50 }, output: { allowlist: [exampleAllowlistEntry] } },
});
