import { z } from 'zod';
import { messageSchema, presentMessage } from '../../../packages/core/src/records/message.ts';
import { requireCurrentLease } from '../../services/inbox/access.ts';
import { type MessageDraft, sendMessage, sendMessages } from '../../services/messages/send.ts';
import { isBlank } from '../../../packages/core/src/domain/visible-text.ts';
import { defineOperation, toolHints } from '../define.ts';
import { exampleQuestion } from '../../../packages/core/src/records/examples.ts';
import { attachmentIds, content, contentType, metadata, reason, threadId } from '../fields.ts';

/** The input fields of a message. */
export const messageFields = {
  content,
  content_type: contentType.default('text'),
  attachment_ids: attachmentIds.default([]),
  reply_to: z.string().max(64).nullish().describe('Id of a message in the same thread.'),
  metadata: metadata.default({}),
  reason: reason.optional(),
};

/** For `refine`: a message has a visible text or files. */
export const hasContent = (value: { content: string; attachment_ids: readonly string[] }): boolean =>
  !isBlank(value.content) || value.attachment_ids.length > 0;
export const contentError = { path: ['content'], error: 'can be empty only if the message has attachments' };

const input = z
  .strictObject({
    thread_id: threadId,
    ...messageFields,
    lease_id: z
      .string()
      .max(64)
      .optional()
      .describe('A lease of yours: the message is only sent if the lease is current.'),
  })
  .refine(hasContent, contentError);

/** What a model gets: it knows the text. */
export const sentMessage = messageSchema.pick({
  id: true,
  thread_id: true,
  sequence: true,
  created_at: true,
});

/** A message as it is sent. The reason is stored in its metadata. */
export function toDraft({
  reason: why,
  reply_to,
  metadata: own,
  ...draft
}: Omit<z.infer<typeof input>, 'thread_id' | 'lease_id'>): MessageDraft {
  const stored = why === undefined ? own : { ...own, reason: why };
  return { ...draft, reply_to: reply_to ?? null, metadata: stored };
}

/** The errors of an operation that sends a message. */
export const sendErrors = [
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
] as const;

export const sendMessageOperation = defineOperation({
  name: 'send_message',
  summary: 'Send a message in a thread',
  scope: 'threads:write',
  kind: 'write',
  input,
  output: messageSchema,
  async run(work, { thread_id, lease_id, ...fields }) {
    const sent = await sendMessage(work, { thread_id, ...toDraft(fields) });
    if (lease_id !== undefined) await requireCurrentLease(work, lease_id);
    return presentMessage(sent);
  },
  /** A message with a lease has a transaction of its own: a lost lease must undo it alone. */
  async runBatch(calls, { isRepeated }) {
    const batched = calls.filter(({ input: { lease_id } }) => lease_id === undefined);
    const sends = batched.map(({ work, input: { thread_id, lease_id: _none, ...fields } }) => {
      return { work, message: { thread_id, ...toDraft(fields) } };
    });
    const results = await sendMessages(sends, { wait: false, mayUseMemory: !isRepeated });
    const resultOf = new Map(batched.map((call, at) => [call, results[at] ?? null]));
    return calls.map((call) => {
      const sent = resultOf.get(call) ?? null;
      return sent === null || sent instanceof Error ? sent : presentMessage(sent);
    });
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
    description:
      'Sends a message in a thread that you are a member of. Use it to answer or to tell something. To ask and wait in one call, use ask; to write to an agent for the first time, use create_thread. The result has the cursor from before the message: wait_for_events with it returns the replies.',
    annotations: toolHints.reachesOthers,
    result: {
      schema: sentMessage,
      from: (output) => sentMessage.parse(output),
    },
    showsFeed: true,
  },
  errors: [...sendErrors, 'LEASE_NOT_FOUND', 'LEASE_LOST'],
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
