import { z } from 'zod';
import { messageSchema, presentMessage } from '../../../packages/core/src/records/message.ts';
import { acknowledgeLease, findThreadOfLease } from '../../services/inbox/leases.ts';
import { isBlank } from '../../../packages/core/src/domain/visible-text.ts';
import { defineOperation, toolHints } from '../define.ts';
import { exampleMessage } from '../../../packages/core/src/records/examples.ts';
import { content } from '../fields.ts';
import { hasContent, messageFields, sendErrors, sentMessage, toDraft } from '../messages/send-message.ts';
import { exampleLeaseState, leaseId } from './fields.ts';

const reply = z.union([content.min(1), z.strictObject({ ...messageFields, content: content.default('') })]);

const input = z
  .strictObject({
    lease_id: leaseId,
    reply: reply
      .optional()
      .describe(
        'A message in the thread of the item, sent in the same transaction. It replies to the message of the item, unless reply_to names another.',
      ),
  })
  .refine(({ reply: sent }) => typeof sent !== 'string' || sent === '' || !isBlank(sent), {
    path: ['reply'],
    error: 'must not be blank; leave it out to acknowledge without a reply',
  })
  .refine(({ reply: sent }) => typeof sent !== 'object' || hasContent(sent), {
    path: ['reply', 'content'],
    error: 'must not be empty without attachments',
  });

function draftOf(sent: z.infer<typeof reply>) {
  return toDraft(typeof sent === 'string' ? messageOf(sent) : sent);
}

const messageOf = (text: string) => z.object(messageFields).parse({ content: text });

export const acknowledgeMessageOperation = defineOperation({
  name: 'acknowledge_message',
  summary: 'Acknowledge a lease: the item is handled, and answered if you reply',
  scope: 'threads:write',
  kind: 'write',
  input,
  output: z.object({
    message: messageSchema.nullable().describe('The reply as sent; null without one.'),
  }),
  async run(work, { lease_id, reply: sent }) {
    const row = await acknowledgeLease(work, lease_id, sent === undefined ? null : draftOf(sent));
    return { message: row && presentMessage(row) };
  },
  /** A reply counts as a message in its thread. */
  limit: 'send_message',
  limitOf: ({ reply: sent }) => (sent === undefined ? 'default' : 'send_message'),
  findLimitKey: async (work, { lease_id, reply: sent }) =>
    sent === undefined ? undefined : findThreadOfLease(work, lease_id),
  rest: {
    method: 'POST',
    path: '/inbox/leases/{lease_id}/acknowledge',
    status: 200,
    idempotency: 'accepted',
  },
  tool: {
    description:
      'Ends a lease of claim_messages as handled, and sends your reply in the same step if you give one. Use it once you have dealt with the message. Do not use it to give a message back: release_message does that.',
    annotations: toolHints.reachesOthers,
    result: {
      schema: z.object({ message: sentMessage.nullable() }),
      from: (output) => z.object({ message: sentMessage.nullable() }).parse(output),
    },
  },
  errors: ['LEASE_NOT_FOUND', 'LEASE_LOST', ...sendErrors],
  example: {
    input: {
      lease_id: exampleLeaseState.id,
      reply: { content: exampleMessage.content, content_type: exampleMessage.content_type },
    },
    output: { message: exampleMessage },
  },
});
