import { z } from 'zod';
import { messageSchema, presentMessage } from '../../../packages/core/src/records/message.ts';
import { toolMessageSchema } from '../../../packages/core/src/records/tool-message.ts';
import type { ReplyRequest } from '../define.ts';
import {
  exampleCursor,
  exampleMessage,
  exampleQuestion,
} from '../../../packages/core/src/records/examples.ts';
import { exampleEndedTask, presentTask, taskSchema } from '../../../packages/core/src/records/task.ts';
import type { AskedTask } from '../../services/tasks/open.ts';
import { toolAttachments, toolTask } from '../tasks/tool-task.ts';
import { sentMessage } from './send-message.ts';

/** The output fields of such an operation. */
export const replyFields = {
  reply: toolMessageSchema
    .nullable()
    .describe(
      'The first message of another member after after_sequence. Null if none has arrived yet: call wait_for_reply.',
    ),
  after_sequence: z.int().describe('The sequence after which a message of another member is the reply.'),
  task: taskSchema
    .nullable()
    .describe('The task of the question; null in a group, unless a member is named.'),
  cursor: z.string().describe('A feed position. Pass it to read the events that this answer lacks.'),
};

/** The same for a model. */
export const shownReplyFields = {
  ...replyFields,
  reply: toolMessageSchema.extend({ attachments: toolAttachments }).nullable(),
  task: toolTask.nullable(),
};

/** The answer to a question. */
export const answer = z.object({
  message: messageSchema.describe('The message that was sent.'),
  ...replyFields,
});
/** What a model gets: it knows the text of the question. */
export const shownAnswer = z.object({ message: sentMessage, ...shownReplyFields });

/** The stored answer. The stage `awaitReply` sets reply and cursor. */
export function toAnswer({ message: row, task }: AskedTask): z.infer<typeof answer> {
  const message = presentMessage(row);
  return {
    message,
    reply: null,
    task: task && presentTask(task),
    after_sequence: message.sequence,
    cursor: 'latest',
  };
}

/** What an answer without a reply waits for. */
export function toRequest(output: object, wait_seconds: number): ReplyRequest {
  const { message, task } = answer.parse(output);
  return {
    thread_id: message.thread_id,
    after_sequence: message.sequence,
    task_id: task?.id,
    wait_ms: wait_seconds * 1_000,
  };
}

/** The path of the message that was sent. */
export const location = ({ message: { thread_id, sequence } }: z.infer<typeof answer>) =>
  `/threads/${thread_id}/messages?order=asc&after_sequence=${sequence - 1}&limit=1`;

export const exampleAnswer = {
  message: exampleQuestion,
  reply: { ...exampleMessage, relationship: 'contact' as const },
  task: exampleEndedTask,
  after_sequence: exampleQuestion.sequence,
  cursor: exampleCursor,
};
