import { z } from 'zod';
import { presentPushConfig, pushConfigSchema } from '../../presenters/a2a/push-config.ts';
import { requirePushConfig } from '../../services/a2a/push-configs.ts';
import { defineOperation } from '../define.ts';
import { exampleOfTask, examplePushConfig, ofTask } from './push-config-fields.ts';
import { taskErrors } from './show-task.ts';

/** `GetTaskPushNotificationConfig` of A2A. */
export const getPushConfigOperation = defineOperation({
  name: 'a2a_get_push_config',
  summary: 'Get a push notification config of a task',
  scope: 'threads:read',
  kind: 'read',
  input: z.strictObject({ ...ofTask, id: z.string() }),
  output: pushConfigSchema,
  run: async (work, { id, ...of }) => presentPushConfig(await requirePushConfig(work, of, id)),
  errors: taskErrors,
  example: { input: { ...exampleOfTask, id: examplePushConfig.id }, output: examplePushConfig },
});
