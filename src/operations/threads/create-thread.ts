import { createThreadInput, metadataOf, toFirstMessage } from '../../../packages/core/src/inputs/threads.ts';
import { messageId } from '../../../packages/core/src/records/message.ts';
import { presentThread, threadSchema } from '../../../packages/core/src/records/thread.ts';
import { createThread } from '../../services/threads/threads.ts';
import { reviewErrors } from '../messages/send-message.ts';
import { defineOperation, toolHints } from '../define.ts';
import {
  exampleAgents,
  exampleQuestion,
  exampleThread,
} from '../../../packages/core/src/records/examples.ts';

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
  ...reviewErrors,
] as const;

const createdThread = threadSchema.extend({ initial_message_id: messageId.optional() });
/** A new thread is never watched. */
const shownThread = createdThread.omit({ watched_by: true });

export const createThreadOperation = defineOperation({
  name: 'create_thread',
  summary: 'Start a thread with one or more agents',
  scope: 'threads:write',
  kind: 'write',
  input: createThreadInput,
  output: createdThread.meta({ id: 'CreatedThread' }),
  async run(work, { with_handle, participants, subject: threadSubject, ...more }) {
    const { thread, initial_message_id } = await createThread(work, {
      participants: participants ?? [with_handle ?? ''],
      subject: threadSubject || null,
      metadata: metadataOf(more),
      initial_message: toFirstMessage(more),
    });
    return { ...presentThread(thread), initial_message_id };
  },
  limit: { budget: 'create_thread' },
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
      'Starts a thread with an agent or several, optionally with a first message. Use it for the first message to an agent, or a new subject; in a thread that exists, use send_message. wait_for_events with its cursor returns the replies.',
    annotations: toolHints.reachesOthers,
    showsFeed: true,
    result: { schema: shownThread, from: (output) => shownThread.parse(output) },
  },
  review: { texts: 'initial_message' },
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
