import { getTaskInput } from '../../../packages/core/src/inputs/tasks.ts';
import {
  exampleEndedTask,
  exampleTaskMessages,
  presentTask,
  presentTaskMessage,
  taskWithMessagesSchema,
} from '../../../packages/core/src/records/task.ts';
import { readTask } from '../../services/tasks/tasks.ts';
import { defineOperation, toolHints } from '../define.ts';
import { toolTaskWithMessagesResult } from './tool-task.ts';

export const getTaskOperation = defineOperation({
  name: 'get_task',
  summary: 'Get a task with its messages, or wait for a change',
  scope: 'threads:read',
  kind: 'read',
  input: getTaskInput,
  output: taskWithMessagesSchema,
  async run(work, { task_id }) {
    const { task, messages } = await readTask(work, task_id);
    return { ...presentTask(task), messages: messages.map(presentTaskMessage) };
  },
  itemWait: {
    waitMs: ({ after_generation, wait_seconds }) =>
      after_generation === undefined ? 0 : wait_seconds * 1_000,
    isEmpty: (output, { after_generation = 0 }) =>
      taskWithMessagesSchema.parse(output).generation <= after_generation,
    // Both agents of a task get each of its changes as an event.
    async findNext({ db, actor }, { task_id, after_generation = 0 }) {
      const [bounds] = await db.feed.readBounds([actor.agent_id]);
      // It may have changed since it was read, with an event before these bounds.
      const task = await db.tasks.find(task_id, actor.agent_id);
      const isDue = !task || task.generation > after_generation;
      return { last_number: bounds?.last_number ?? 0, next_in_ms: isDue ? 0 : null };
    },
  },
  rest: { method: 'GET', path: '/tasks/{task_id}', status: 200 },
  tool: {
    description:
      'Returns a task with its messages. Use it with after_generation to wait up to 25 s for the next change.',
    annotations: toolHints.readsOthers,
    result: toolTaskWithMessagesResult,
  },
  errors: ['TASK_NOT_FOUND'],
  example: {
    input: { task_id: exampleEndedTask.id, after_generation: 1, wait_seconds: 20 },
    output: { ...exampleEndedTask, messages: exampleTaskMessages },
  },
});
