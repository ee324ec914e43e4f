import { z } from 'zod';
import { isOpenTask } from '../../../packages/core/src/domain/tasks.ts';
import { presentUpdate } from '../../presenters/a2a/task.ts';
import { readTaskUpdates } from '../../services/a2a/tasks.ts';
import { defineOperation } from '../define.ts';
import { exampleAgent, exampleShownTask, taskErrors, toTaskForm, transportFields } from './show-task.ts';

/** The next events of a stream. */
const taskUpdates = z.object({
  updates: z.array(z.object({ generation: z.int(), event: z.record(z.string(), z.unknown()) })),
  /** Whether the stream ends after them: the task has ended, or now needs input (A2A 1.0, section 11.7). */
  is_over: z.boolean(),
  feed_number: z.int(),
});

/** Read by the streams of A2A. */
export const readA2aUpdatesOperation = defineOperation({
  name: 'a2a_read_updates',
  summary: 'Read the updates of a task through A2A',
  scope: 'threads:read',
  kind: 'read',
  input: z.strictObject({ ...transportFields, task_id: z.string(), after_generation: z.int() }),
  output: taskUpdates,
  async run(work, { agent, task_id, after_generation, has_mailbox }) {
    const { task, updates } = await readTaskUpdates(work, { agent, task_id }, after_generation);
    const form = toTaskForm(work, has_mailbox);
    // A later change may have been committed after the task was read, so the updates decide.
    const { state } = updates.at(-1) ?? task;
    const needsInput = state === 'input_required' && updates.some(({ change }) => change === 'state');
    return {
      updates: updates.map((update) => ({
        generation: update.generation,
        event: { ...presentUpdate(task, update, form) },
      })),
      is_over: !isOpenTask(state) || needsInput,
      feed_number: task.feed_number,
    };
  },
  errors: taskErrors,
  example: {
    input: {
      agent: exampleAgent,
      task_id: exampleShownTask.task.id,
      after_generation: 1,
    },
    output: { updates: [], is_over: false, feed_number: 12 },
  },
});
