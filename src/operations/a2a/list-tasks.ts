import { z } from 'zod';
import { taskStates } from '../../../packages/core/src/domain/tasks.ts';
import { presentTask } from '../../presenters/a2a/task.ts';
import { listClientTasks } from '../../services/a2a/tasks.ts';
import { defineOperation } from '../define.ts';
import { exampleAgent, exampleShownTask, toTaskForm, transportFields, wireTask } from './show-task.ts';

/** `ListTasks` of A2A. */
export const listA2aTasksOperation = defineOperation({
  name: 'a2a_list_tasks',
  summary: 'List your tasks with an agent through A2A',
  scope: 'threads:read',
  kind: 'read',
  input: z.strictObject({
    ...transportFields,
    context_id: z.string().optional(),
    state: z.enum(taskStates).nullable(),
    since: z.int().nullable().describe('Milliseconds; null: any time.'),
    limit: z.int(),
    cursor: z.string().optional(),
    history_length: z.int(),
    has_artifacts: z.boolean(),
  }),
  output: z.object({
    tasks: z.array(wireTask),
    nextPageToken: z.string(),
    pageSize: z.int(),
    totalSize: z.int(),
  }),
  async run(work, { has_mailbox, history_length: last, context_id, ...input }) {
    const request = { ...input, thread_id: context_id ?? null, last };
    const { tasks, next_cursor = '', total } = await listClientTasks(work, request);
    const form = toTaskForm(work, has_mailbox);
    const parts = { hasArtifacts: input.has_artifacts, historyLength: last };
    const shown = tasks.map((task) => presentTask(task, { messages: task.messages, ...parts }, form));
    return {
      tasks: shown,
      nextPageToken: next_cursor,
      pageSize: input.limit,
      totalSize: total,
    };
  },
  errors: ['AGENT_NOT_FOUND', 'INVALID_CURSOR'],
  example: {
    input: {
      agent: exampleAgent,
      state: null,
      since: null,
      limit: 50,
      history_length: 0,
      has_artifacts: false,
    },
    output: { tasks: [exampleShownTask.task], nextPageToken: '', pageSize: 50, totalSize: 1 },
  },
});
