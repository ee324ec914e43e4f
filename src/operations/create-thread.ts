import { z } from 'zod';
import { presentThread, threadSchema } from '../presenters/thread.ts';
import { createThread } from '../services/threads.ts';
import { defineOperation, toolHints } from './define.ts';
import { agentHandle, attachmentIds, content, contentType, reason, subject } from './fields.ts';

const initialMessage = z.union([
  content.min(1),
  z.strictObject({
    content: content.default(''),
    content_type: contentType.default('text'),
    attachment_ids: attachmentIds.default([]),
  }),
]);

const input = z
  .strictObject({
    with_handle: agentHandle.optional(),
    participants: z.array(agentHandle).min(1).max(255).optional().describe('Handles of all other members.'),
    subject: subject.nullish(),
    initial_message: initialMessage
      .optional()
      .describe('Sent as the first message, together with the thread or not at all.'),
    reason: reason.optional(),
  })
  .refine((value) => (value.with_handle === undefined) !== (value.participants === undefined), {
    path: ['with_handle'],
    error: 'give either with_handle or participants',
  })
  .refine(
    ({ initial_message: first }) =>
      typeof first !== 'object' || first.content !== '' || first.attachment_ids.length > 0,
    {
      path: ['initial_message', 'content'],
      error: 'may be empty only with attachments',
    },
  );

function draftOf({ initial_message: first, reason: why }: z.infer<typeof input>) {
  if (first === undefined) return null;
  const message =
    typeof first === 'string' ? { content: first, content_type: 'text' as const, attachment_ids: [] } : first;
  return { ...message, reply_to: null, metadata: why === undefined ? {} : { reason: why } };
}

export const createThreadOperation = defineOperation({
  name: 'create_thread',
  summary: 'Start a thread with one or more agents',
  scope: 'threads:write',
  kind: 'write',
  input,
  output: threadSchema.extend({ initial_message_id: z.string().optional() }).meta({ id: 'CreatedThread' }),
  async run(work, given) {
    const participants = given.participants ?? [given.with_handle ?? ''];
    const made = await createThread(work, {
      participants,
      subject: given.subject ?? null,
      initial_message: draftOf(given),
    });
    return { ...presentThread(made.thread), initial_message_id: made.initial_message_id };
  },
  limit: 'create_thread',
  rest: {
    method: 'POST',
    path: '/threads',
    forms: 'short-and-long',
    status: 201,
    idempotency: 'required',
    location: (thread) => `/threads/${thread.id}`,
  },
  tool: {
    description: 'Starts a thread with an agent, with a first message if one is given. Answers the thread.',
    annotations: toolHints.write,
  },
});
