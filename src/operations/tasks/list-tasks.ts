import { z } from 'zod';
import { listTasksInput } from '../../../packages/core/src/inputs/tasks.ts';
import { exampleCursor } from '../../../packages/core/src/records/examples.ts';
import { exampleTask, presentTask, taskSchema } from '../../../packages/core/src/records/task.ts';
import { listTasks } from '../../services/tasks/tasks.ts';
import { defineOperation, toolHints } from '../define.ts';
import { pageOf } from '../page-of.ts';
import { toolTasksResult } from './tool-task.ts';

export const listTasksOperation = defineOperation({
  name: 'list_tasks',
  summary: 'List your tasks, given and received',
  scope: 'threads:read',
  kind: 'read',
  input: listTasksInput,
  ...pageOf('tasks', z.array(taskSchema).describe('Newest change first.'), listTasks, presentTask),
  rest: { method: 'GET', path: '/tasks', status: 200 },
  tool: {
    description:
      'Lists tasks: questions that stay open until they end. Use it with role asked and state open for what you must answer, and with role asking for answers you wait for. To follow one, call get_task.',
    annotations: toolHints.readsOthers,
    result: toolTasksResult,
  },
  errors: [],
  example: {
    input: { role: 'asking', state: 'open', limit: 20 },
    output: { tasks: [exampleTask], next_cursor: exampleCursor },
  },
});
