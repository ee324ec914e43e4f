import { z } from 'zod';
import { messageSchema, presentMessage } from '../../presenters/message.ts';
import { sendMessage } from '../../services/messages/messages.ts';
import { sendBatch } from '../../services/messages/send-batch.ts';
import { defineOperation, toolHints } from '../define.ts';
import { exampleQuestion } from '../examples/records.ts';
import { attachmentIds, content, contentType, metadata, reason, threadId } from '../fields.ts';

export const sendMessageOperation = defineOperation({
  name: 'send_message',
  summary: 'Send a message in a thread',
  scope: 'threads:write',
  kind: 'write',
  input: z
    .strictObject({
      thread_id: threadId,
      content,
      content_type: contentType.default('text'),
      attachment_ids: attachmentIds.default([]),
      reply_to: z.string().max(64).nullish().describe('A message of the same thread.'),
      metadata: metadata.default({}),
      reason: reason.optional(),
    })
    .refine((value) => value.content !== '' || value.attachment_ids.length > 0, {
      path: ['content'],
      error: 'may be empty only with attachments',
    }),
  output: messageSchema,
  async run(work, { reason: why, reply_to, metadata: given, ...message }) {
    const kept = metadataOf({ reason: why, metadata: given });
    return presentMessage(
      await sendMessage(work, { ...message, reply_to: reply_to ?? null, metadata: kept }),
    );
  },
  batch: {
    isBatchable: ({ attachment_ids, reply_to }) => attachment_ids.length === 0 && (reply_to ?? null) === null,
    async run(calls) {
      const sends = calls.map(({ work, input }) => ({
        work,
        message: { ...input, metadata: metadataOf(input) },
      }));
      const outcomes = await sendBatch(sends);
      return outcomes.map((sent) => (sent === null || sent instanceof Error ? sent : presentMessage(sent)));
    },
  },
  batchKey: ({ thread_id }) => thread_id,
  limit: 'send_message',
  limitKey: ({ thread_id }) => thread_id,
  rest: {
    method: 'POST',
    path: '/threads/{thread_id}/messages',
    status: 201,
    idempotency: 'required',
    location: ({ thread_id, sequence }) =>
      `/threads/${thread_id}/messages?order=asc&after_sequence=${sequence - 1}&limit=1`,
  },
  tool: {
    description: 'Sends a message in a thread that you are a member of.',
    annotations: toolHints.write,
  },
  errors: [
    'THREAD_NOT_FOUND',
    'THREAD_CLOSED',
    'AGENT_NOT_FOUND',
    'NOT_CONTACTS',
    'NOT_TRUSTED',
    'NOT_ALLOWED',
    'BLOCKED',
    'AGENT_PAUSED',
    'MESSAGE_NOT_FOUND',
    'ATTACHMENT_NOT_FOUND',
    'ATTACHMENT_ALREADY_SENT',
    'ATTACHMENT_NOT_READY',
    'ATTACHMENT_INFECTED',
    'MESSAGE_TOO_LARGE',
  ],
  example: {
    input: {
      thread_id: exampleQuestion.thread_id,
      content: exampleQuestion.content,
      content_type: exampleQuestion.content_type,
      metadata: exampleQuestion.metadata,
    },
    output: exampleQuestion,
  },
});

function metadataOf({
  reason: why,
  metadata: given,
}: {
  reason?: string | undefined;
  metadata: Record<string, unknown>;
}) {
  return why === undefined ? given : { ...given, reason: why };
}
