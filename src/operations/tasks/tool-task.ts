import { z } from 'zod';
import { attachmentSchema } from '../../../packages/core/src/records/attachment.ts';
import { taskSchema, taskWithMessagesSchema } from '../../../packages/core/src/records/task.ts';

/** A task in the results of tools whose caller knows the question. `get_task` returns every field. */
export const toolTask = taskSchema.pick({
  id: true,
  state: true,
  generation: true,
  due_at: true,
  overdue: true,
  delivery: true,
  agent_last_seen_at: true,
});

const toolTaskState = toolTask.pick({ id: true, state: true, generation: true });

/** The result of a tool that changes a task. */
export const toolTaskResult = {
  schema: toolTaskState,
  from: (output: object) => toolTaskState.parse(output),
};

/** The attachments of a message in such results. `get_attachment` returns every field. */
export const toolAttachments = z.array(
  attachmentSchema.pick({
    id: true,
    filename: true,
    content_type: true,
    size_bytes: true,
    scan_status: true,
  }),
);

const toolTaskWithMessages = taskWithMessagesSchema.extend({
  messages: z.array(taskWithMessagesSchema.shape.messages.element.extend({ attachments: toolAttachments })),
});

/** The result of `get_task`. */
export const toolTaskWithMessagesResult = {
  schema: toolTaskWithMessages,
  from: (output: object) => toolTaskWithMessages.parse(output),
};

const toolTasks = z.object({
  tasks: z.array(taskSchema.omit({ accepted_output_modes: true, expires_at: true })),
  next_cursor: z.string().optional(),
});

/** The result of `list_tasks`. */
export const toolTasksResult = { schema: toolTasks, from: (output: object) => toolTasks.parse(output) };
