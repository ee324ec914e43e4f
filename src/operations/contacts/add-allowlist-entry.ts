import { z } from 'zod';
import { allowlistEntrySchema } from '../../../packages/core/src/records/contact.ts';
import { addAllowlistEntry } from '../../services/contacts/allowlist.ts';
import { defineOperation } from '../define.ts';
import { exampleAllowlistEntry } from '../../../packages/core/src/records/examples.ts';
import { allowlistEntry } from '../../../packages/core/src/inputs/fields.ts';

export const addAllowlistEntryOperation = defineOperation({
  name: 'add_allowlist_entry',
  summary: 'Add an agent, or all agents of an owner, to your allowlist',
  scope: 'contacts:write',
  kind: 'write',
  input: z.strictObject({ entry: allowlistEntry }),
  output: allowlistEntrySchema,
  run: (work, { entry }) => addAllowlistEntry(work, entry),
  rest: {
    method: 'POST',
    path: '/allowlist',
    forms: 'short-and-long',
    status: 201,
    idempotency: 'accepted',
  },
  errors: ['INVALID_HANDLE'],
  example: { input: { entry: 'globex.*' }, output: exampleAllowlistEntry },
});
