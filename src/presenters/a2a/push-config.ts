import { z } from 'zod';

/** Its characters are safe in URLs and headers. */
const configId = z
  .string()
  .regex(
    /^(?!\.{1,2}$)[\w.~-]{1,64}$/,
    'must be 1 to 64 letters, digits, or one of . _ ~ -, such as a UUID, and not . or ..',
  );
/** In ProtoJSON an empty string can be an unset one. */
const orUnset = <Schema extends z.ZodType<string>>(schema: Schema) =>
  z
    .union([z.literal(''), schema])
    .transform((value) => value || undefined)
    .optional();
/** The characters of a header. */
const headerText = z.string().regex(/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/, 'must be visible ASCII');
const tenant = z.literal('', { error: 'must be empty: the address selects the agent' }).optional();
const taskId = z.string().min(1).max(64);

/** A TaskPushNotificationConfig (A2A 1.0, section 4.3.1) in a request that sends a message: the task is that of the message. */
export const messagePushConfig = z.object({
  tenant,
  id: orUnset(configId),
  url: z.string().min(1).max(2_048),
  token: orUnset(headerText.max(500)),
  authentication: z
    .object({
      // RFC 9110, section 11.1
      scheme: z.string().regex(/^[\w!#$%&'*+.^`|~-]{1,40}$/, 'must be the name of a scheme, such as Bearer'),
      credentials: orUnset(headerText.max(2_000)),
    })
    .optional(),
});

export type PushConfigRequest = z.infer<typeof messagePushConfig>;

/** The request of CreateTaskPushNotificationConfig (section 3.1.7). */
export const pushConfigRequest = messagePushConfig.extend({ taskId });

/** The requests that get or delete a config (sections 3.1.8 and 3.1.10). An ID of another form is one of no config, not invalid input. */
export const namedPushConfigRequest = z.object({ tenant, taskId, id: z.string().min(1).max(255) });

/** ListTaskPushNotificationConfigsRequest (section 3.1.9). A task has few configs, so all are on one page. */
export const listPushConfigsRequest = z.object({ tenant, taskId });

/** A config as clients see it: without its secrets. */
export const pushConfigSchema = z
  .object({
    id: z.string(),
    taskId: z.string(),
    url: z.string(),
    authentication: z.object({ scheme: z.string() }).optional(),
  })
  .describe('Where a client gets the updates of a task.');

export interface PresentedPushConfig {
  id: string;
  task_id: string;
  url: string;
  scheme: string | null;
}

/** Returns a config without its secrets. */
export function presentPushConfig({ id, task_id, url, scheme }: PresentedPushConfig) {
  return { id, taskId: task_id, url, ...(scheme !== null && { authentication: { scheme } }) };
}
