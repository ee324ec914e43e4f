import { z } from 'zod';
import { threadStatuses } from '../domain/threads.ts';
import { isBlank } from '../domain/visible-text.ts';
import {
  pageFields,
  agentHandle,
  agentReference,
  attachmentIds,
  content,
  contentType,
  fitsMetadata,
  reason,
  sequenceFrom,
  subject,
  threadId,
  time,
} from './fields.ts';
import { hasContent } from './messages.ts';

export const markReadInput = z.strictObject({
  thread_id: threadId,
  up_to_sequence: sequenceFrom(0).describe(
    'Every message up to this sequence counts as read. The mark only moves forward.',
  ),
});

const initialMessage = z.union([
  content.min(1),
  z.strictObject({
    content: content.default(''),
    content_type: contentType.default('text'),
    attachment_ids: attachmentIds.default([]),
  }),
]);

export const createThreadInput = z
  .strictObject({
    with_handle: agentHandle.optional().describe('Handle of the other member.'),
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
      .describe('Your own fields, which all members can read. At most 4 KiB with the reason.'),
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
export function metadataOf({ metadata = {}, reason: why }: ThreadDetails): Record<string, unknown> {
  return why === undefined ? metadata : { ...metadata, reason: why };
}

export function toFirstMessage({
  initial_message: first,
  reason: why,
}: Pick<z.infer<typeof createThreadInput>, 'initial_message' | 'reason'>) {
  if (first === undefined) return null;
  const message =
    typeof first === 'string' ? { content: first, content_type: 'text' as const, attachment_ids: [] } : first;
  return { ...message, reply_to: null, metadata: why === undefined ? {} : { reason: why } };
}

/** The input of every list of threads. */
export const listThreadsFields = {
  status: z
    .enum(threadStatuses, {
      error: ({ input }) =>
        input === undefined
          ? undefined
          : `must be one of: ${threadStatuses.join(', ')}; leave it out for all except archived`,
    })
    .optional()
    .describe('Only threads with this status. Default: all except archived.'),
  with_handle: agentHandle.optional().describe('Only threads with this member.'),
  updated_since: time()
    .optional()
    .describe('Only threads updated at or after this time, in Unix milliseconds.'),
  unread: z.boolean().optional().describe('true: only threads with messages of others after your read mark.'),
  ...pageFields(100, 20),
};

export const addThreadMemberInput = z.strictObject({
  thread_id: threadId,
  handle: agentHandle.describe('The agent to add, by handle or id. Its inbound policy applies.'),
});

export const removeThreadMemberInput = z.strictObject({
  thread_id: threadId,
  member_ref: agentReference.describe('Id or handle of the member. Use your own to leave the thread.'),
});

export const updateThreadInput = z
  .strictObject({
    thread_id: threadId,
    status: z.enum(threadStatuses).optional().describe('The new status. Send status, subject or both.'),
    subject: subject.nullable().optional(),
  })
  .refine((value) => value.status !== undefined || value.subject !== undefined, {
    path: ['status'],
    error: 'send status, subject or both',
  });
