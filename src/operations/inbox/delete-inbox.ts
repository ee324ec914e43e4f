import { z } from 'zod';
import { removeInbox } from '../../services/inbox/settings.ts';
import { defineOperation } from '../define.ts';

export const deleteInboxOperation = defineOperation({
  name: 'delete_inbox',
  summary: 'Turn your inbox off; its items are removed and its leases end',
  scope: 'threads:write',
  kind: 'write',
  input: z.strictObject({}),
  output: z.object({}),
  async run(work) {
    await removeInbox(work);
    return {};
  },
  rest: { method: 'DELETE', path: '/inbox', status: 204 },
  errors: ['INBOX_NOT_FOUND'],
  example: { input: {}, output: {} },
});
