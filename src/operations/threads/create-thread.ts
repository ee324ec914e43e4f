import { z } from 'zod';
import { messageId } from '../../../packages/core/src/records/message.ts';
import { presentThread, threadSchema } from '../../../packages/core/src/records/thread.ts';
import { createThread } from '../../services/threads/threads.ts';
import { isBlank } from '../../../packages/core/src/domain/visible-text.ts';
import { defineOperation, toolHints } from '../define.ts';
import {
  exampleAgents,
  exampleQuestion,
  exampleThread,
} from '../../../packages/core/src/records/examples.ts';
import {
  agentHandle,
  attachmentIds,
  content,
  contentType,
  fitsMetadata,
  reason,
  subject,
} from '../fields.ts';
import { hasContent } from '../messages/send-message.ts';

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
    with_handle: agentHandle
      .optional()
      .describe('Handle of the other member. Send either with_handle or participants.'),
    participants: z
      .array(agentHandle)
      .min(1)
      .max(255)
      .optional()
      .describe('Handles of the other members. Send either with_handle or participants.'),
    subject: subject.nullish(),
    initial_message: initialMessage
      .optional()
      .describe('The first message. The thread is only created if it can be sent.'),
    reason: reason.optional(),
    metadata: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('A JSON object that you define. All members can read it. At most 4 KiB with the reason.'),
  })
  .refine((value) => (value.with_handle === undefined) !== (value.participants === undefined), {
    path: ['with_handle'],
    error: 'send either with_handle or participants',
  })
  .refine(({ initial_message: first }) => typeof first !== 'string' || first === '' || !isBlank(first), {
    path: ['initial_message'],
    error: 'must not be blank; leave it out to start a thread without a message',
  })
  .refine(({ initial_message: first }) => typeof first !== 'object' || hasContent(first), {
    path: ['initial_message', 'content'],
    error: 'must not be empty without attachments',
  })
  .refine((value) => fitsMetadata(metadataOf(value)), {
    path: ['metadata'],
    error: 'must be at most 4 KiB as JSON, with the reason',
  });

interface ThreadDetails {
  metadata?: Record<string, unknown> | undefined;
  reason?: string | undefined;
}

/** The metadata of the thread, with the reason. */
function metadataOf({ metadata = {}, reason: why }: ThreadDetails): Record<string, unknown> {
  return why === undefined ? metadata : { ...metadata, reason: why };
}

function draftOf({
  initial_message: first,
  reason: why,
}: Pick<z.infer<typeof input>, 'initial_message' | 'reason'>) {
  if (first === undefined) return null;
  const message =
    typeof first === 'string' ? { content: first, content_type: 'text' as const, attachment_ids: [] } : first;
  return { ...message, reply_to: null, metadata: why === undefined ? {} : { reason: why } };
}

/** The errors of an operation that opens a thread. */
export const createThreadErrors = [
  'INVALID_HANDLE',
  'CANNOT_INITIATE_THREADS',
  'AGENT_NOT_FOUND',
  'NOT_CONTACTS',
  'NOT_TRUSTED',
  'NOT_ALLOWED',
  'BLOCKED',
  'AGENT_PAUSED',
  'ATTACHMENT_NOT_FOUND',
  'ATTACHMENT_ALREADY_SENT',
  'ATTACHMENT_NOT_READY',
  'ATTACHMENT_INFECTED',
  'MESSAGE_TOO_LARGE',
] as const;

export const createThreadOperation = defineOperation({
  name: 'create_thread',
  summary: 'Start a thread with one or more agents',
  scope: 'threads:write',
  kind: 'write',
  input,
  output: threadSchema.extend({ initial_message_id: messageId.optional() }).meta({ id: 'CreatedThread' }),
  async run(work, { with_handle, participants, subject: threadSubject, ...more }) {
    const { thread, initial_message_id } = await createThread(work, {
      participants: participants ?? [with_handle ?? ''],
      subject: threadSubject || null,
      metadata: metadataOf(more),
      initial_message: draftOf(more),
    });
    return { ...presentThread(thread), initial_message_id };
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
    description:
      'Starts a thread with an agent or several, optionally with a first message. Use it to write to an agent for the first time, or about a new subject. The result has the cursor from before the thread: wait_for_events with it returns the replies. To write in a thread that exists, use send_message; list_threads finds it.',
    annotations: toolHints.reachesOthers,
    showsFeed: true,
  },
  errors: createThreadErrors,
  example: {
    input: {
      with_handle: exampleAgents.support.canonical_handle,
      subject: exampleThread.subject,
      reason: 'A customer asks about order 1042.',
      initial_message: exampleQuestion.content,
    },
    output: {
      ...exampleThread,
      last_message_at: exampleThread.created_at,
      updated_at: exampleThread.created_at,
      last_sequence: 1,
      unread_count: 0,
      initial_message_id: exampleQuestion.id,
    },
  },
});
