import { z } from 'zod';
import { wrongField } from '../../domain/errors.ts';
import { messageSchema, presentMessage } from '../../presenters/message.ts';
import { presentToolMessage, toolMessageSchema } from '../../presenters/tool-message.ts';
import { findReply } from '../../services/messages/reply.ts';
import { sendMessage } from '../../services/messages/send.ts';
import { createThread } from '../../services/threads/threads.ts';
import { defineOperation, type ReplyRequest, toolHints } from '../define.ts';
import { exampleCursor, exampleMessage, exampleQuestion, exampleAgents } from '../examples/records.ts';
import { agentHandle, maxWaitSeconds, sequenceFrom, subject, threadId } from '../fields.ts';
import { contentError, hasContent, messageFields, sendErrors, sentMessage, toDraft } from './send-message.ts';
import { createThreadErrors } from '../threads/create-thread.ts';

const waitSeconds = z
  .int()
  .min(0)
  .default(maxWaitSeconds)
  .transform((seconds) => Math.min(seconds, maxWaitSeconds))
  .describe(
    `Maximum seconds to wait for the reply; more than ${maxWaitSeconds} counts as ${maxWaitSeconds}.`,
  );

const replyFields = {
  reply: toolMessageSchema
    .nullable()
    .describe(
      'The first message of another member after after_sequence. Null if none has arrived yet: call wait_for_reply.',
    ),
  after_sequence: z.int().describe('The sequence after which a message of another member is the reply.'),
  cursor: z
    .string()
    .describe('The feed position after which events are left that this answer does not have.'),
};

const answer = z.object({ message: messageSchema.describe('The message that was sent.'), ...replyFields });
const shownAnswer = z.object({ message: sentMessage, ...replyFields });

/** The stored answer. The stage `awaitReply` sets reply and cursor. */
function toAnswer(row: Parameters<typeof presentMessage>[0]): z.infer<typeof answer> {
  const message = presentMessage(row);
  return { message, reply: null, after_sequence: message.sequence, cursor: 'latest' };
}

function toRequest(output: object, wait_seconds: number): ReplyRequest {
  const { message } = answer.parse(output);
  return {
    thread_id: message.thread_id,
    after_sequence: message.sequence,
    wait_ms: wait_seconds * 1_000,
  };
}

const location = ({ message: { thread_id, sequence } }: z.infer<typeof answer>) =>
  `/threads/${thread_id}/messages?order=asc&after_sequence=${sequence - 1}&limit=1`;

const example = {
  message: exampleQuestion,
  reply: { ...exampleMessage, relationship: 'contact' as const },
  after_sequence: exampleQuestion.sequence,
  cursor: exampleCursor,
};

const inputInThread = z
  .strictObject({ thread_id: threadId, ...messageFields, wait_seconds: waitSeconds })
  .refine(hasContent, contentError);

const input = z
  .strictObject({
    thread_id: threadId.optional().describe('The thread to ask in. Send either thread_id or with_handle.'),
    with_handle: agentHandle
      .optional()
      .describe('The agent to ask in a new thread. Send either thread_id or with_handle.'),
    subject: subject.nullish().describe('The subject of a new thread.'),
    ...messageFields,
    wait_seconds: waitSeconds,
  })
  .refine((value) => (value.with_handle === undefined) !== (value.thread_id === undefined), {
    path: ['thread_id'],
    error: 'send either thread_id or with_handle',
  })
  .refine(hasContent, contentError);

/** Sends in a thread that exists. */
export const askInThreadOperation = defineOperation({
  name: 'ask_in_thread',
  summary: 'Send a message in a thread and wait for the reply',
  scope: 'threads:write',
  kind: 'write',
  input: inputInThread,
  output: answer,
  async run(work, { thread_id, wait_seconds: _wait, ...fields }) {
    return toAnswer(await sendMessage(work, { thread_id, ...toDraft(fields) }));
  },
  reply: (output, { wait_seconds }) => toRequest(output, wait_seconds),
  limit: 'send_message',
  limitKey: ({ thread_id }) => thread_id,
  rest: {
    method: 'POST',
    path: '/threads/{thread_id}/ask',
    status: 201,
    idempotency: 'required',
    location,
  },
  errors: sendErrors,
  example: {
    input: { thread_id: exampleQuestion.thread_id, content: exampleQuestion.content, wait_seconds: 20 },
    output: example,
  },
});

/** Sends in a thread, or opens one. */
export const askOperation = defineOperation({
  name: 'ask',
  summary: 'Ask an agent and wait for the reply',
  scope: 'threads:write',
  kind: 'write',
  input,
  output: answer,
  async run(work, { thread_id, with_handle, subject: topic, wait_seconds: _wait, ...fields }) {
    if (thread_id !== undefined) {
      if (topic) throw wrongField('subject', 'is only for a new thread; use with_handle');
      return toAnswer(await sendMessage(work, { thread_id, ...toDraft(fields) }));
    }
    if (fields.reply_to) throw wrongField('reply_to', 'is only for a thread that exists; use thread_id');
    const { message } = await createThread(work, {
      participants: [with_handle ?? ''],
      subject: topic ?? null,
      metadata: fields.reason === undefined ? {} : { reason: fields.reason },
      initial_message: toDraft(fields),
    });
    if (!message) throw new Error('a thread with a first message has that message');
    return toAnswer(message);
  },
  reply: (output, { wait_seconds }) => toRequest(output, wait_seconds),
  limit: 'send_message',
  limitOf: ({ thread_id }) => (thread_id === undefined ? 'create_thread' : 'send_message'),
  limitKey: ({ thread_id }) => thread_id,
  rest: { method: 'POST', path: '/threads/ask', status: 201, idempotency: 'required', location },
  tool: {
    description:
      'Sends a message and waits up to 25 seconds for the first answer of another member. Use it to ask one question; with_handle opens a thread, thread_id continues one. If reply is null, do not ask again: call wait_for_reply with after_sequence. To send without waiting, use send_message.',
    annotations: toolHints.reachesOthers,
    result: { schema: shownAnswer, from: (output) => shownAnswer.parse(output) },
    showsFeed: true,
  },
  errors: [...new Set([...sendErrors, ...createThreadErrors])],
  example: {
    input: {
      with_handle: exampleAgents.support.canonical_handle,
      content: exampleQuestion.content,
      wait_seconds: 20,
    },
    output: example,
  },
});

const waitOutput = z.object({ thread_id: threadId, ...replyFields });

export const waitForReplyOperation = defineOperation({
  name: 'wait_for_reply',
  summary: 'Wait for the reply to a message',
  scope: 'threads:read',
  kind: 'read',
  input: z.strictObject({
    thread_id: threadId,
    after_sequence: sequenceFrom(0).describe('The sequence of the message to which you wait for a reply.'),
    wait_seconds: waitSeconds,
  }),
  output: waitOutput,
  async run(work, { thread_id, after_sequence }) {
    const row = await findReply(work, { thread_id, after_sequence });
    const reply = row && presentToolMessage(row, row.relationship);
    return { thread_id, reply, after_sequence, cursor: 'latest' };
  },
  reply: (_output, { thread_id, after_sequence, wait_seconds }) => ({
    thread_id,
    after_sequence,
    wait_ms: wait_seconds * 1_000,
  }),
  rest: { method: 'GET', path: '/threads/{thread_id}/reply', status: 200 },
  tool: {
    description:
      'Waits for the first message of another member after a sequence, and returns it at once if it is there. Use it after ask when reply was null, or after send_message with the sequence of your message. To wait in several threads, use wait_for_events.',
    annotations: toolHints.readsOthers,
    showsFeed: true,
  },
  errors: ['THREAD_NOT_FOUND'],
  example: {
    input: {
      thread_id: exampleQuestion.thread_id,
      after_sequence: exampleQuestion.sequence,
      wait_seconds: 20,
    },
    output: {
      thread_id: exampleQuestion.thread_id,
      reply: { ...exampleMessage, relationship: 'contact' },
      after_sequence: exampleQuestion.sequence,
      cursor: exampleCursor,
    },
  },
});
