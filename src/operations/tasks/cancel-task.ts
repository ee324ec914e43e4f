import { cancelTaskInput } from '../../../packages/core/src/inputs/tasks.ts';
import { exampleEndedTask, presentTask, taskSchema } from '../../../packages/core/src/records/task.ts';
import { cancelTask } from '../../services/tasks/tasks.ts';
import { defineOperation, toolHints } from '../define.ts';
import { toolTaskResult } from './tool-task.ts';

export const cancelTaskOperation = defineOperation({
  name: 'cancel_task',
  summary: 'Cancel a task that you gave',
  scope: 'threads:write',
  kind: 'write',
  input: cancelTaskInput,
  output: taskSchema,
  async run(work, { task_id }) {
    return presentTask(await cancelTask(work, task_id));
  },
  rest: { method: 'POST', path: '/tasks/{task_id}/cancel', status: 200 },
  tool: {
    description:
      'Cancels a task you gave. Use it if you no longer need the answer, not for one you were given.',
    annotations: { ...toolHints.reachesOthers, idempotentHint: true },
    result: toolTaskResult,
  },
  errors: ['TASK_NOT_FOUND', 'FORBIDDEN', 'INVALID_TRANSITION'],
  example: {
    input: { task_id: exampleEndedTask.id },
    output: { ...exampleEndedTask, state: 'canceled', generation: 2 },
  },
});
