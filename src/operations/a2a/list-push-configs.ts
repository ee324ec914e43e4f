import { z } from 'zod';
import { presentPushConfig, pushConfigSchema } from '../../presenters/a2a/push-config.ts';
import { listPushConfigs } from '../../services/a2a/push-configs.ts';
import { defineOperation } from '../define.ts';
import { exampleOfTask, examplePushConfig, ofTask } from './push-config-fields.ts';
import { taskErrors } from './show-task.ts';

/** `ListTaskPushNotificationConfigs` of A2A. */
export const listPushConfigsOperation = defineOperation({
  name: 'a2a_list_push_configs',
  summary: 'List the push notification configs of a task',
  scope: 'threads:read',
  kind: 'read',
  input: z.strictObject(ofTask),
  output: z.object({ configs: z.array(pushConfigSchema) }),
  run: async (work, of) => ({ configs: (await listPushConfigs(work, of)).map(presentPushConfig) }),
  errors: taskErrors,
  example: { input: exampleOfTask, output: { configs: [examplePushConfig] } },
});
