import { z } from 'zod';
import { isSettledTask } from '../../../packages/core/src/domain/tasks.ts';
import { readClientTask, readTaskUpdates } from '../../services/a2a/tasks.ts';
import { defineOperation } from '../define.ts';
import { exampleShownTask, maxHistory, showTask, shownTask, transportFields } from './show-task.ts';

/** `GetTask` of A2A, and the wait of `SendMessage`. */
export const getA2aTaskOperation = defineOperation({
  name: 'a2a_get_task',
  summary: 'Get a task through A2A, or wait until it has ended or waits for you',
  scope: 'threads:read',
  kind: 'read',
  input: z.strictObject({
    ...transportFields,
    task_id: z.string(),
    history_length: z.int().default(maxHistory),
    wait_ms: z.int().default(0),
  }),
  output: shownTask,
  async run(work, { agent_id, task_id, has_mailbox: hasMailbox, history_length: historyLength }) {
    const found = await readClientTask(
      work,
      { agent_id, task_id },
      { last: historyLength, hasArtifacts: true },
    );
    return showTask(work, found, { historyLength, hasMailbox });
  },
  itemWait: {
    waitMs: ({ wait_ms }) => wait_ms,
    isEmpty: (output) => !shownTask.parse(output).is_settled,
    // The client gets each change of the task as an event. It may have changed since it was read, with an event before this position.
    async findNext(work, { task_id, agent_id }) {
      const { task, feed_number } = await readTaskUpdates(
        work,
        { task_id, agent_id },
        Number.MAX_SAFE_INTEGER,
      );
      return { last_number: feed_number, next_in_ms: isSettledTask(task.state) ? 0 : null };
    },
  },
  errors: ['TASK_NOT_FOUND'],
  example: {
    input: { agent_id: 'agt_01K9ZX5N3Q8R2T4V6W8X0Y2A4C', task_id: exampleShownTask.task.id },
    output: exampleShownTask,
  },
});
