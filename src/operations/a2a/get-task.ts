import { z } from 'zod';
import { requireClientTask } from '../../services/a2a/tasks.ts';
import { readConversation } from '../../services/remote/order.ts';
import { defineOperation } from '../define.ts';
import {
  exampleAgent,
  exampleShownTask,
  maxHistory,
  showTask,
  shownTask,
  taskErrors,
  transportFields,
} from './show-task.ts';

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
  async run(work, { agent, task_id, has_mailbox: hasMailbox, history_length: historyLength, wait_ms }) {
    const is_brief = !hasMailbox && wait_ms === 0;
    const detail = { last: historyLength, has_artifacts: true, is_brief };
    const task = await requireClientTask(work, { agent, task_id }, detail);
    return showTask(work, task, { historyLength, hasMailbox, ...(await readConversation(work, task)) });
  },
  itemWait: {
    waitMs: ({ wait_ms }) => wait_ms,
    isFirstEmpty: true,
    isEmpty: (output) => !shownTask.parse(output).is_settled,
    // The client gets each change of the task as an event.
    findNext: async (_work, _input, output) => ({
      last_number: shownTask.parse(output).feed_number,
      next_in_ms: null,
    }),
  },
  errors: taskErrors,
  example: {
    input: { agent: exampleAgent, task_id: exampleShownTask.task.id },
    output: exampleShownTask,
  },
});
