import { z } from 'zod';
import { presentPushConfig, pushConfigSchema } from '../../presenters/a2a/push-config.ts';
import { putPushConfig } from '../../services/a2a/push-configs.ts';
import { defineOperation } from '../define.ts';
import { exampleOfTask, examplePushConfig, ofTask, pushTarget, toPushTarget } from './push-config-fields.ts';
import { taskErrors, transportFields } from './show-task.ts';

/** `CreateTaskPushNotificationConfig` of A2A. */
export const createPushConfigOperation = defineOperation({
  name: 'a2a_create_push_config',
  summary: 'Send the updates of a task to a URL',
  scope: 'threads:write',
  kind: 'write',
  input: z.strictObject({ ...ofTask, has_mailbox: transportFields.has_mailbox, config: pushTarget }),
  output: pushConfigSchema,
  async run(work, { agent, task_id, has_mailbox, config }) {
    const target = toPushTarget(config, has_mailbox);
    return presentPushConfig(await putPushConfig(work, { agent, task_id }, target));
  },
  errors: taskErrors,
  example: { input: { ...exampleOfTask, config: { url: examplePushConfig.url } }, output: examplePushConfig },
});
