import { z } from 'zod';
import { isBlank } from '../domain/visible-text.ts';
import {
  pageFields,
  agentHandle,
  attachmentIds,
  content,
  contentType,
  idempotencyKeyPattern,
  maxWaitSeconds,
  metadata,
  reason,
  sequenceFrom,
  subject,
  taskId,
  threadId,
} from './fields.ts';
import { minDueSeconds } from '../domain/tasks.ts';

/** The input fields of a message. */
export const messageFields = {
  content,
  content_type: contentType.default('text'),
  attachment_ids: attachmentIds.default([]),
  reply_to: z.string().max(64).nullish().describe('A message in the same thread.'),
  metadata: metadata.default({}),
  reason: reason.optional(),
};

/** For `refine`: a message has a visible text or files. */
export const hasContent = (value: { content: string; attachment_ids: readonly string[] }): boolean =>
  !isBlank(value.content) || value.attachment_ids.length > 0;

const contentError = { path: ['content'], error: 'can be empty only if the message has attachments' };

/** The input field of a message that replaces another one. */
const replaces = z.string().max(64).optional().describe('Your message that this one replaces.');

export const sendMessageInput = z
  .strictObject({
    thread_id: threadId,
    ...messageFields,
    replaces,
    lease_id: z
      .string()
      .max(64)
      .optional()
      .describe('A lease of yours: the message is only sent if the lease is current.'),
  })
  .refine(hasContent, contentError);

/** A message as it is sent. The reason is stored in its metadata. */
export function toDraft({
  reason: why,
  reply_to,
  replaces: replaced_id,
  metadata: own,
  ...draft
}: Omit<z.infer<typeof sendMessageInput>, 'thread_id' | 'lease_id' | 'replaces'> & {
  replaces?: string | undefined;
}) {
  const stored = why === undefined ? own : { ...own, reason: why };
  return {
    ...draft,
    reply_to: reply_to ?? null,
    metadata: stored,
    ...(replaced_id !== undefined && { replaces: replaced_id }),
  };
}

/** The input field of an operation that waits for a reply. */
const waitSeconds = z
  .int()
  .min(0)
  .default(maxWaitSeconds)
  .transform((seconds) => Math.min(seconds, maxWaitSeconds))
  .describe(`Seconds to wait, up to ${maxWaitSeconds}.`);

/** The input of an operation on one message. */
export const messageReference = z.strictObject({
  message_id: z.string().max(64).describe('Message identifier, msg_…'),
});

const maxMessages = 100;

export const batchMessage = z
  .strictObject({
    ...messageFields,
    replaces,
    idempotency_key: z
      .string()
      .regex(idempotencyKeyPattern, 'must be 1 to 255 visible ASCII characters')
      .optional()
      .describe(
        'A key of this message, as the Idempotency-Key of a single send in the thread: under one key it is sent once, alone or in any batch.',
      ),
  })
  .refine(hasContent, contentError);

export const sendMessagesInput = z.strictObject({
  thread_id: threadId,
  messages: z
    .array(batchMessage)
    .min(1, 'must have at least one message')
    .max(maxMessages, `must have at most ${maxMessages} messages`)
    .refine(hasDistinctKeys, 'must not use an idempotency_key twice')
    .describe(`The messages in their order, 1–${maxMessages}.`),
});

function hasDistinctKeys(messages: readonly z.infer<typeof batchMessage>[]): boolean {
  const keys = messages.flatMap(({ idempotency_key: key }) => (key === undefined ? [] : [key]));
  return new Set(keys).size === keys.length;
}

/** The input fields of a question, which opens a task. */
export const questionFields = {
  of: agentHandle.optional().describe('In a group: the member to ask. Without it, no task opens.'),
  due_in_seconds: z
    .int()
    .min(minDueSeconds)
    .optional()
    .describe('Seconds until you want the answer, at least 60.'),
};

interface QuestionPlace {
  thread_id?: string | undefined;
  subject?: string | null | undefined;
  reply_to?: string | null | undefined;
}

type Rule = [isKept: (value: QuestionPlace) => boolean, refusal: { path: string[]; error: string }];

/** For `refine`: a thread that exists keeps its subject. */
export const hasPossibleSubject: Rule = [
  ({ thread_id, subject: topic }) => thread_id === undefined || !topic,
  { path: ['subject'], error: 'is only for a new thread; use with_handle without thread_id' },
];

/** For `refine`: a new thread has no message to reply to. */
export const hasPossibleReply: Rule = [
  ({ thread_id, reply_to }) => thread_id !== undefined || !reply_to,
  { path: ['reply_to'], error: 'is only for an existing thread; use thread_id' },
];

export const askAgentInput = z
  .strictObject({
    thread_id: threadId.optional().describe('The thread to ask in. Send it or with_handle.'),
    with_handle: agentHandle.optional().describe('The agent to ask in a new thread.'),
    ...questionFields,
    subject: subject.nullish().describe('The subject of a new thread.'),
    ...messageFields,
    wait_seconds: waitSeconds,
  })
  .refine((value) => (value.with_handle === undefined) !== (value.thread_id === undefined), {
    path: ['thread_id'],
    error: 'send either thread_id or with_handle',
  })
  .refine(...hasPossibleSubject)
  .refine(...hasPossibleReply)
  .refine(({ thread_id, of }) => thread_id !== undefined || of === undefined, {
    path: ['of'],
    error: 'is only for a group; use thread_id',
  })
  .refine(hasContent, contentError);

export const askInThreadInput = z
  .strictObject({ thread_id: threadId, ...questionFields, ...messageFields, wait_seconds: waitSeconds })
  .refine(hasContent, contentError);

export const waitForReplyInput = z
  .strictObject({
    thread_id: threadId.optional().describe('The thread of the message. Not needed with task_id.'),
    after_sequence: sequenceFrom(0)
      .optional()
      .describe('The sequence of your message. Not needed with task_id.'),
    task_id: taskId.optional().describe('The task of your question, from ask.'),
    wait_seconds: waitSeconds,
  })
  .refine((value) => value.task_id !== undefined || value.after_sequence !== undefined, {
    path: ['after_sequence'],
    error: 'is required without task_id',
  })
  .refine((value) => value.task_id !== undefined || value.thread_id !== undefined, {
    path: ['thread_id'],
    error: 'is required without task_id',
  });

export const listMessagesInput = z.strictObject({
  thread_id: threadId,
  ...pageFields(100, 50),
  order: z.enum(['asc', 'desc']).default('desc').describe('Order by sequence.'),
  after_sequence: sequenceFrom(0).default(0).describe('Only messages after this sequence.'),
});
