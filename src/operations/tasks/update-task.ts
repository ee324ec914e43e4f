import { toTaskReport, updateTaskInput } from '../../../packages/core/src/inputs/tasks.ts';
import { exampleMessage } from '../../../packages/core/src/records/examples.ts';
import { exampleEndedTask, presentTask, taskSchema } from '../../../packages/core/src/records/task.ts';
import { findThreadOfTask } from '../../services/tasks/access.ts';
import { updateTask } from '../../services/tasks/tasks.ts';
import { defineOperation, toolHints } from '../define.ts';
import { sendErrors } from '../messages/send-message.ts';
import { toolTaskResult } from './tool-task.ts';

export const updateTaskOperation = defineOperation({
  name: 'update_task',
  summary: 'Report the state of a task that you were given',
  scope: 'threads:write',
  kind: 'write',
  input: updateTaskInput,
  output: taskSchema,
  async run(work, input) {
    return presentTask((await updateTask(work, toTaskReport(input))).task);
  },
  limit: { budget: 'send_message', findKey: async (work, { task_id }) => findThreadOfTask(work, task_id) },
  rest: { method: 'POST', path: '/tasks/{task_id}/update', status: 200, idempotency: 'accepted' },
  tool: {
    description:
      'Reports the state of a task you were given: working, input_required with your question, completed with the answer, failed or rejected with the reason. Use it to say more than a plain reply, which completes the task.',
    annotations: toolHints.reachesOthers,
    result: toolTaskResult,
  },
  review: { texts: 'message' },
  errors: [
    'TASK_NOT_FOUND',
    'FORBIDDEN',
    'INVALID_TRANSITION',
    'LEASE_NOT_FOUND',
    'LEASE_LOST',
    ...sendErrors,
  ],
  example: {
    input: {
      task_id: exampleEndedTask.id,
      state: 'completed',
      message: { content: exampleMessage.content, content_type: 'markdown' },
    },
    output: exampleEndedTask,
  },
});
