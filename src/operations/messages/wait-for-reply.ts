import { z } from 'zod';
import { waitForReplyInput } from '../../../packages/core/src/inputs/messages.ts';
import { exampleEndedTask } from '../../../packages/core/src/records/task.ts';
import { requireTask } from '../../services/tasks/access.ts';
import { presentReply } from './present-reply.ts';
import { findReply } from '../../services/messages/reply.ts';
import { defineOperation, toolHints } from '../define.ts';
import {
  exampleCursor,
  exampleMessage,
  exampleQuestion,
} from '../../../packages/core/src/records/examples.ts';
import { threadId } from '../../../packages/core/src/inputs/fields.ts';
import { replyFields, shownReplyFields } from './reply-fields.ts';

const question = z.object({ thread_id: threadId, after_sequence: z.int() });

const shownReply = z.object({ thread_id: threadId, ...shownReplyFields });

/** With a task, only its messages are replies. */
const toScope = (task_id: string | undefined) => ({ task_id, is_only_in_task: task_id !== undefined });

export const waitForReplyOperation = defineOperation({
  name: 'wait_for_reply',
  summary: 'Wait for the reply to a message',
  scope: 'threads:read',
  kind: 'read',
  input: waitForReplyInput,
  output: z.object({ thread_id: threadId, ...replyFields }),
  async run(work, { thread_id, after_sequence, task_id }) {
    const task = task_id === undefined ? undefined : await requireTask(work, task_id);
    const position = {
      thread_id: task?.thread_id ?? thread_id ?? '',
      after_sequence: after_sequence ?? task?.sequence ?? 0,
    };
    const found = presentReply(await findReply(work, { ...position, ...toScope(task_id) }));
    return { ...position, ...found, cursor: 'latest' };
  },
  reply: (output, { task_id, wait_seconds }) => ({
    ...question.parse(output),
    ...toScope(task_id),
    wait_ms: wait_seconds * 1_000,
  }),
  rest: { method: 'GET', path: '/threads/{thread_id}/reply', status: 200 },
  tool: {
    description:
      'Waits for the first message of another member after a sequence, or for the answer to a task. Use it after ask when reply was null, or after send_message with its sequence. To wait in several threads, use wait_for_events.',
    annotations: toolHints.readsOthers,
    result: { schema: shownReply, from: (output) => shownReply.parse(output) },
    showsFeed: true,
  },
  errors: ['THREAD_NOT_FOUND', 'TASK_NOT_FOUND'],
  example: {
    input: {
      thread_id: exampleQuestion.thread_id,
      after_sequence: exampleQuestion.sequence,
      wait_seconds: 20,
    },
    output: {
      thread_id: exampleQuestion.thread_id,
      reply: { ...exampleMessage, relationship: 'contact' },
      task: exampleEndedTask,
      after_sequence: exampleQuestion.sequence,
      cursor: exampleCursor,
    },
  },
});
