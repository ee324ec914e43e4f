import { createTaskInput } from '../../../packages/core/src/inputs/tasks.ts';
import { exampleAgents, exampleQuestion } from '../../../packages/core/src/records/examples.ts';
import {
  exampleTask,
  exampleTaskMessages,
  presentTask,
  presentTaskMessage,
  taskWithMessagesSchema,
} from '../../../packages/core/src/records/task.ts';
import { wrongField } from '../../../packages/core/src/domain/errors.ts';
import { toDraft } from '../../../packages/core/src/inputs/messages.ts';
import { openTask } from '../../services/tasks/open.ts';
import { defineOperation } from '../define.ts';
import { sendErrors } from '../messages/send-message.ts';
import { createThreadErrors } from '../threads/create-thread.ts';

/** Models open tasks with `ask`. */
export const createTaskOperation = defineOperation({
  name: 'create_task',
  summary: 'Ask an agent, and open a task that stays open until it has ended',
  scope: 'threads:write',
  kind: 'write',
  input: createTaskInput,
  output: taskWithMessagesSchema,
  async run(
    work,
    { thread_id, with_handle: asked, subject, due_in_seconds, accepted_output_modes, ...fields },
  ) {
    const { task, message } = await openTask(work, {
      thread_id,
      asked,
      subject: subject || null,
      reason: fields.reason,
      draft: toDraft(fields),
      due_in_seconds,
      accepted_output_modes,
    });
    if (!task) throw wrongField('with_handle', 'is required in a group: it names the member that is asked');
    const first = { ...message, artifact: false, data: null };
    return { ...presentTask(task), messages: [presentTaskMessage(first)] };
  },
  limit: {
    budget: 'send_message',
    budgetOf: ({ thread_id }) => (thread_id === undefined ? 'create_thread' : 'send_message'),
    key: ({ thread_id }) => thread_id,
  },
  rest: {
    method: 'POST',
    path: '/tasks',
    status: 201,
    idempotency: 'required',
    location: ({ id }) => `/tasks/${id}`,
  },
  review: { texts: 'content' },
  errors: [...new Set([...sendErrors, ...createThreadErrors])],
  example: {
    input: {
      with_handle: exampleAgents.support.canonical_handle,
      content: exampleQuestion.content,
      due_in_seconds: 7_200,
    },
    output: { ...exampleTask, messages: exampleTaskMessages.slice(0, 1) },
  },
});
