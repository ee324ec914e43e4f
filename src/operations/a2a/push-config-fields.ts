import { z } from 'zod';
import type { PushTarget } from '../../services/a2a/push-configs.ts';
import { exampleAgent, transportFields } from './show-task.ts';

/** The fields that name a task of the caller. */
export const ofTask = { agent: transportFields.agent, task_id: z.string() };

export const pushTarget = z.strictObject({
  id: z.string().optional(),
  url: z.string(),
  version: z.enum(['1.0', '0.3']).default('1.0'),
  token: z.string().optional(),
  authentication: z.object({ scheme: z.string(), credentials: z.string().optional() }).optional(),
});

export const toPushTarget = (
  { id, url, version, token, authentication }: z.infer<typeof pushTarget>,
  has_mailbox: boolean,
): PushTarget => ({ id, url, version, token, authentication, has_mailbox });

/** The config of the examples. */
export const examplePushConfig = {
  id: 'b9a7c3de-5b1c-4c53-9f43-6e5a1d0f2c77',
  taskId: 'tsk_01K9ZX5P7S0T4W6X8Y0A2C3D4G',
  url: 'https://acme.example/a2a/updates',
  authentication: { scheme: 'Bearer' },
};

export const exampleOfTask = {
  agent: exampleAgent,
  task_id: examplePushConfig.taskId,
};
