import { z } from 'zod';
import { removeInbox } from '../../services/inbox/settings.ts';
import { defineAction } from '../define.ts';

export const deleteInboxOperation = defineAction({
  name: 'delete_inbox',
  summary: 'Turn your inbox off; its items are removed and its leases end',
  scope: 'threads:write',
  kind: 'write',
  input: z.strictObject({}),
  run: (work) => removeInbox(work),
  rest: { method: 'DELETE', path: '/inbox', status: 204 },
  errors: ['INBOX_NOT_FOUND'],
  example: {},
});
