import { z } from 'zod';
import { allows } from '../../../packages/core/src/domain/auth/scopes.ts';
import { readClientTask, requireClientTask } from '../../services/a2a/tasks.ts';
import { cancelTask } from '../../services/tasks/tasks.ts';
import { defineOperation } from '../define.ts';
import { exampleShownTask, maxHistory, showTask, shownTask, transportFields } from './show-task.ts';

/** `CancelTask` of A2A. */
export const cancelA2aTaskOperation = defineOperation({
  name: 'a2a_cancel_task',
  summary: 'Cancel a task through A2A',
  scope: 'threads:write',
  kind: 'write',
  input: z.strictObject({ ...transportFields, task_id: z.string() }),
  output: shownTask,
  async run(work, { agent_id, task_id, has_mailbox: hasMailbox }) {
    const { id } = await requireClientTask(work, { agent_id, task_id });
    await cancelTask(work, id);
    // A token that can only write learns the state.
    const historyLength = allows(work.actor.scopes, 'threads:read') ? maxHistory : 0;
    const detail = { last: historyLength, hasArtifacts: historyLength > 0 };
    const found = await readClientTask(work, { agent_id, task_id }, detail);
    return showTask(work, found, { historyLength, hasMailbox });
  },
  errors: ['TASK_NOT_FOUND', 'INVALID_TRANSITION'],
  example: {
    input: { agent_id: 'agt_01K9ZX5N3Q8R2T4V6W8X0Y2A4C', task_id: exampleShownTask.task.id },
    output: exampleShownTask,
  },
});
