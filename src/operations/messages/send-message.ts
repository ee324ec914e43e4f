import { sendMessageInput, toDraft } from '../../../packages/core/src/inputs/messages.ts';
import { messageSchema, presentMessage } from '../../../packages/core/src/records/message.ts';
import { requireCurrentLease } from '../../services/inbox/access.ts';
import { sendMessage, sendMessages } from '../../services/messages/send.ts';
import { defineOperation, toolHints } from '../define.ts';
import { exampleQuestion } from '../../../packages/core/src/records/examples.ts';

/** What a model gets: it knows the text. */
export const sentMessage = messageSchema.pick({
  id: true,
  thread_id: true,
  sequence: true,
  created_at: true,
});

/** The errors of an operation whose calls a person may have to review. */
export const reviewErrors = ['APPROVAL_REQUIRED', 'APPROVAL_DENIED'] as const;

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
  ...reviewErrors,
] as const;

/** The errors of a message that replaces another one. */
export const replaceErrors = ['FORBIDDEN', 'INVALID_TRANSITION'] as const;

export const sendMessageOperation = defineOperation({
  name: 'send_message',
  summary: 'Send a message in a thread',
  scope: 'threads:write',
  kind: 'write',
  input: sendMessageInput,
  output: messageSchema,
  async run(work, { thread_id, lease_id, ...fields }) {
    const sent = await sendMessage(work, { thread_id, ...toDraft(fields) });
    if (lease_id !== undefined) await requireCurrentLease(work, lease_id);
    return presentMessage(sent);
  },
  /**
   * A message with a lease has a transaction of its own: a lost lease must undo it alone. One that replaces another waits for locks.
   */
  batch: {
    async run(calls, { isRepeated }) {
      const batched = calls.filter(
        ({ input: { lease_id, replaces } }) => lease_id === undefined && replaces === undefined,
      );
      const sends = batched.map(({ work, input: { thread_id, lease_id: _none, ...fields } }) => {
        return { work, message: { thread_id, ...toDraft(fields) } };
      });
      const results = await sendMessages(sends, { wait: false, mustRead: isRepeated });
      const resultOf = new Map(batched.map((call, at) => [call, results[at] ?? null]));
      return calls.map((call) => {
        const sent = resultOf.get(call) ?? null;
        return sent === null || sent instanceof Error ? sent : presentMessage(sent);
      });
    },
  },
  usualOutput: ({ agent_id: sender_id, handle: sender_handle }, input) => {
    const { thread_id, content, content_type, reply_to = null } = input;
    const assigned = { id: '', created_at: 0, sequence: 0, attachments: [], metadata: {} };
    const sent = { ...assigned, thread_id, sender_id, sender_handle, content, content_type, reply_to };
    return presentMessage({ ...sent, written_by: 'agent' });
  },
  batchKey: ({ thread_id }) => thread_id,
  limit: { budget: 'send_message', key: ({ thread_id }) => thread_id },
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
      'Sends a message in one of your threads. Use it to answer or to tell something; to ask and wait in one call, use ask; for a new thread, use create_thread. wait_for_events with its cursor returns the replies.',
    annotations: toolHints.reachesOthers,
    result: {
      schema: sentMessage,
      from: (output) => sentMessage.parse(output),
    },
    showsFeed: true,
  },
  review: { texts: 'content' },
  errors: [...sendErrors, ...replaceErrors, 'LEASE_NOT_FOUND', 'LEASE_LOST'],
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
