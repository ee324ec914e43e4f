import { z } from 'zod';
import { removePushConfig } from '../../services/a2a/push-configs.ts';
import { defineOperation } from '../define.ts';
import { exampleOfTask, examplePushConfig, ofTask } from './push-config-fields.ts';
import { taskErrors } from './show-task.ts';

/** `DeleteTaskPushNotificationConfig` of A2A. */
export const deletePushConfigOperation = defineOperation({
  name: 'a2a_delete_push_config',
  summary: 'Stop sending the updates of a task to a URL',
  scope: 'threads:write',
  kind: 'write',
  input: z.strictObject({ ...ofTask, id: z.string() }),
  output: z.object({}),
  async run(work, { id, ...of }) {
    await removePushConfig(work, of, id);
    return {};
  },
  errors: taskErrors,
  example: { input: { ...exampleOfTask, id: examplePushConfig.id }, output: {} },
});
