import { z } from 'zod';
import { findInbox } from '../../services/inbox/settings.ts';
import { defineOperation, toolHints } from '../define.ts';
import { exampleInbox, inboxSchema } from './fields.ts';

/** The tool `get_inbox`. In REST an inbox that is off is not found; a model gets the answer to its question. */
export const readInboxOperation = defineOperation({
  name: 'read_inbox',
  summary: 'Show your inbox',
  scope: 'threads:read',
  kind: 'read',
  input: z.strictObject({}),
  output: inboxSchema.partial().extend({
    enabled: z.boolean().describe('Whether the inbox is on. The other fields are absent if not.'),
  }),
  async run(work) {
    const inbox = await findInbox(work, work.actor.agent_id);
    return { enabled: inbox !== undefined, ...inbox };
  },
  tool: {
    name: 'get_inbox',
    description:
      'Returns whether your inbox is on, its settings, and how many messages are ready, leased or dead. Use it to see whether work is left. To get them, use claim_messages.',
    annotations: toolHints.read,
  },
  errors: [],
  example: { input: {}, output: { enabled: true, ...exampleInbox } },
});
