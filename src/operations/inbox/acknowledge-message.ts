import { z } from 'zod';
import { acknowledgeMessageInput, toReplyDraft } from '../../../packages/core/src/inputs/inbox.ts';
import { messageSchema, presentMessage } from '../../../packages/core/src/records/message.ts';
import { acknowledgeLease, findThreadOfLease } from '../../services/inbox/leases.ts';
import { defineOperation, toolHints } from '../define.ts';
import { exampleMessage } from '../../../packages/core/src/records/examples.ts';
import { sendErrors, sentMessage } from '../messages/send-message.ts';
import { exampleLeaseState } from './fields.ts';

export const acknowledgeMessageOperation = defineOperation({
  name: 'acknowledge_message',
  summary: 'Acknowledge a lease: the item is handled, and answered if you reply',
  scope: 'threads:write',
  kind: 'write',
  input: acknowledgeMessageInput,
  output: z.object({
    message: messageSchema.nullable().describe('The reply as sent; null without one.'),
  }),
  async run(work, { lease_id, reply: sent, task_state: state }) {
    const reply = sent === undefined ? null : { ...toReplyDraft(sent), ...(state && { task: { state } }) };
    const row = await acknowledgeLease(work, lease_id, reply);
    return { message: row && presentMessage(row) };
  },
  /** A reply counts as a message in its thread. */
  limit: {
    budget: 'send_message',
    budgetOf: ({ reply: sent }) => (sent === undefined ? 'default' : 'send_message'),
    findKey: async (work, { lease_id, reply: sent }) =>
      sent === undefined ? undefined : findThreadOfLease(work, lease_id),
  },
  rest: {
    method: 'POST',
    path: '/inbox/leases/{lease_id}/acknowledge',
    status: 200,
    idempotency: 'accepted',
  },
  tool: {
    description:
      'Ends a lease of claim_messages as handled, and sends your reply, if you give one. Use it once the message is dealt with. To give it back, use release_message.',
    annotations: toolHints.reachesOthers,
    result: {
      schema: z.object({ message: sentMessage.nullable() }),
      from: (output) => z.object({ message: sentMessage.nullable() }).parse(output),
    },
  },
  review: { texts: 'reply', ends_lease: true },
  errors: ['LEASE_NOT_FOUND', 'LEASE_LOST', ...sendErrors],
  example: {
    input: {
      lease_id: exampleLeaseState.id,
      reply: { content: exampleMessage.content, content_type: exampleMessage.content_type },
    },
    output: { message: exampleMessage },
  },
});
