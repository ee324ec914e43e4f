import { z } from 'zod';
import { removeAllowlistEntry } from '../../services/contacts/allowlist.ts';
import { defineAction } from '../define.ts';
import { allowlistEntry } from '../../../packages/core/src/inputs/fields.ts';

export const removeAllowlistEntryOperation = defineAction({
  name: 'remove_allowlist_entry',
  summary: 'Remove an entry from your allowlist',
  scope: 'contacts:write',
  kind: 'write',
  input: z.strictObject({ entry: allowlistEntry }),
  run: (work, { entry }) => removeAllowlistEntry(work, entry),
  rest: { method: 'DELETE', path: '/allowlist/{entry}', forms: 'short-and-long', status: 204 },
  errors: ['NOT_FOUND', 'INVALID_HANDLE'],
  example: { entry: 'globex.*' },
});
