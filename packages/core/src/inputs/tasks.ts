import { z } from 'zod';
import { jsonToMarkdown, maxTaskDataBytes, reportedTaskStates, taskStates } from '../domain/tasks.ts';
import {
  agentHandle,
  attachmentIds,
  content,
  contentType,
  fitsAsJson,
  maxWaitSeconds,
  pageFields,
  subject,
  taskId,
  threadId,
} from './fields.ts';
import {
  hasContent,
  hasPossibleReply,
  hasPossibleSubject,
  messageFields,
  questionFields,
} from './messages.ts';

const outputModes = z
  .array(z.string().min(1).max(100))
  .max(20)
  .default([])
  .describe('Media types that you accept as the answer; empty for any.');

const contentError = { path: ['content'], error: 'can be empty only if the message has attachments' };

export const createTaskInput = z
  .strictObject({
    thread_id: threadId
      .optional()
      .describe('The thread to ask in. In a thread of more than two, with_handle names the asked member.'),
    with_handle: agentHandle
      .optional()
      .describe('The agent to ask: in a new thread, or the member of thread_id.'),
    subject: subject.nullish().describe('The subject of a new thread.'),
    ...messageFields,
    due_in_seconds: questionFields.due_in_seconds,
    accepted_output_modes: outputModes,
  })
  .refine((value) => value.with_handle !== undefined || value.thread_id !== undefined, {
    path: ['with_handle'],
    error: 'send with_handle, thread_id or both',
  })
  .refine(...hasPossibleSubject)
  .refine(...hasPossibleReply)
  .refine(hasContent, contentError);

export const listTasksInput = z.strictObject({
  role: z
    .enum(['asked', 'asking'])
    .optional()
    .describe('asked: tasks that others gave you. asking: yours to others. Default: both.'),
  state: z
    .enum(['open', ...taskStates])
    .optional()
    .describe('open: all that have not ended. Default: all.'),
  thread_id: threadId.optional().describe('Only tasks of this thread.'),
  overdue: z.boolean().optional().describe('true: only open tasks whose due_at has passed.'),
  ...pageFields(100, 20),
});

export const getTaskInput = z.strictObject({
  task_id: taskId,
  after_generation: z
    .int()
    .min(0)
    .optional()
    .describe('Wait until the task has a newer generation than this. Needs wait_seconds.'),
  wait_seconds: z
    .int()
    .min(0)
    .default(0)
    .transform((seconds) => Math.min(seconds, maxWaitSeconds))
    .describe(`Seconds to wait, up to ${maxWaitSeconds}.`),
});

const updateMessage = z.strictObject({
  content: content.default(''),
  content_type: contentType.default('text'),
  attachment_ids: attachmentIds.default([]),
});

export const updateTaskInput = z
  .strictObject({
    task_id: taskId,
    state: z.enum(reportedTaskStates).describe('The new state. working can be repeated with a message.'),
    message: z
      .union([content, updateMessage])
      .transform((value) => (typeof value === 'string' ? updateMessage.parse({ content: value }) : value))
      .optional()
      .describe('A message to the client: the answer, the question back, or the reason.'),
    data: z
      .unknown()
      .optional()
      .refine(
        (value) => value === undefined || fitsAsJson(value, maxTaskDataBytes),
        'must be at most 16 KiB as JSON',
      )
      .describe('A result as JSON, at most 16 KiB. Without message it becomes the text of one.'),
    artifact: z
      .boolean()
      .optional()
      .describe('Whether the message is a result. Default: only with the state completed.'),
    lease_id: z
      .string()
      .max(64)
      .optional()
      .describe('A lease of yours: the task only changes if the lease is current.'),
  })
  .refine(({ message }) => message === undefined || hasContent(message), {
    path: ['message', 'content'],
    error: 'can be empty only if the message has attachments',
  })
  .refine(
    ({ state, message, data }) => message !== undefined || data !== undefined || !state.endsWith('_required'),
    {
      path: ['message'],
      error: 'is required for this state: say what you need',
    },
  );

/** Returns a report as it is stored: its data as JSON text, which is the message if there is no other. */
export function toTaskReport({ message, data, artifact, ...report }: z.output<typeof updateTaskInput>) {
  const json = data === undefined ? null : JSON.stringify(data);
  return {
    ...report,
    message: message ?? (json === null ? null : toDataMessage(data)),
    data: json,
    artifact: artifact ?? report.state === 'completed',
    lease_id: report.lease_id,
  };
}

/** The message of a result that is only JSON. */
const toDataMessage = (data: unknown): z.output<typeof updateMessage> => ({
  content: jsonToMarkdown(data),
  content_type: 'markdown',
  attachment_ids: [],
});

export const cancelTaskInput = z.strictObject({ task_id: taskId });
