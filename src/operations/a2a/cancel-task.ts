import { z } from 'zod';
import { allows } from '../../../packages/core/src/domain/auth/scopes.ts';
import { requireClientTask } from '../../services/a2a/tasks.ts';
import { cancelTask } from '../../services/tasks/tasks.ts';
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

/** `CancelTask` of A2A. */
export const cancelA2aTaskOperation = defineOperation({
  name: 'a2a_cancel_task',
  summary: 'Cancel a task through A2A',
  scope: 'threads:write',
  kind: 'write',
  input: z.strictObject({ ...transportFields, task_id: z.string() }),
  output: shownTask,
  async run(work, { agent, task_id, has_mailbox: hasMailbox }) {
    const { id } = await requireClientTask(work, { agent, task_id });
    await cancelTask(work, id);
    // A token without threads:read gets only the state.
    const historyLength = allows(work.actor.scopes, 'threads:read') ? maxHistory : 0;
    const detail = { last: historyLength, has_artifacts: historyLength > 0, is_brief: !hasMailbox };
    const task = await requireClientTask(work, { agent, task_id }, detail);
    return showTask(work, task, { historyLength, hasMailbox });
  },
  errors: [...taskErrors, 'INVALID_TRANSITION'],
  example: {
    input: { agent: exampleAgent, task_id: exampleShownTask.task.id },
    output: exampleShownTask,
  },
});
