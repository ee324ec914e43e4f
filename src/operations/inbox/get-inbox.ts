import { z } from 'zod';
import { readInbox } from '../../services/inbox/settings.ts';
import { defineOperation } from '../define.ts';
import { exampleInbox, inboxSchema } from './fields.ts';

export const getInboxOperation = defineOperation({
  name: 'get_inbox',
  summary: 'Retrieve your inbox: settings, number of items by state, and instances',
  scope: 'threads:read',
  kind: 'read',
  input: z.strictObject({}),
  output: inboxSchema,
  async run(work) {
    return readInbox(work, work.actor.agent_id);
  },
  rest: { method: 'GET', path: '/inbox', status: 200 },
  errors: ['INBOX_NOT_FOUND'],
  example: { input: {}, output: exampleInbox },
});
