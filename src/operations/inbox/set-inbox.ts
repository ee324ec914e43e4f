import { setInboxInput } from '../../../packages/core/src/inputs/inbox.ts';
import { saveInbox } from '../../services/inbox/settings.ts';
import { defineOperation, toolHints } from '../define.ts';
import { exampleInbox, inboxSchema } from './fields.ts';

export const setInboxOperation = defineOperation({
  name: 'set_inbox',
  summary: 'Turn your inbox on, or change its settings',
  scope: 'threads:write',
  kind: 'write',
  input: setInboxInput,
  output: inboxSchema,
  async run(work, { from, ...settings }) {
    return saveInbox(work, settings, from);
  },
  rest: { method: 'PUT', path: '/inbox', status: 200 },
  tool: {
    description:
      'Turns your inbox on, or changes its settings. Use it before claim_messages for other settings, or if the inbox was turned off. What you leave out gets its default.',
    annotations: { ...toolHints.write, idempotentHint: true },
  },
  errors: ['INVALID_CURSOR'],
  example: {
    input: {
      types: ['message.created'],
      lease_seconds: 60,
      max_attempts: 5,
      ordered_by_thread: true,
      from: 'now',
    },
    output: exampleInbox,
  },
});
