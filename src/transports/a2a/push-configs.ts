import type { z } from 'zod';
import { createPushConfigOperation } from '../../operations/a2a/create-push-config.ts';
import { deletePushConfigOperation } from '../../operations/a2a/delete-push-config.ts';
import { getPushConfigOperation } from '../../operations/a2a/get-push-config.ts';
import { listPushConfigsOperation } from '../../operations/a2a/list-push-configs.ts';
import type {
  listPushConfigsRequest,
  namedPushConfigRequest,
  PushConfigRequest,
  pushConfigRequest,
} from '../../presenters/a2a/push-config.ts';
import type { CallContext } from './context.ts';

type Named = z.infer<typeof namedPushConfigRequest>;

/** Returns the input of an operation for a config of a client. */
export function toPushInput(
  { request: { version } }: CallContext,
  { id, url, token, authentication }: PushConfigRequest,
): object {
  return { id, url, version, token, authentication };
}

export function createPushConfig(
  context: CallContext,
  { taskId: task_id, ...config }: z.infer<typeof pushConfigRequest>,
): Promise<object> {
  const { agent, hasMailbox } = context.request;
  const input = { agent, task_id, has_mailbox: hasMailbox, config: toPushInput(context, config) };
  return context.run(createPushConfigOperation, input);
}

export function getPushConfig({ run, request }: CallContext, { taskId, id }: Named): Promise<object> {
  return run(getPushConfigOperation, { agent: request.agent, task_id: taskId, id });
}

export function listPushConfigs(
  { run, request }: CallContext,
  { taskId }: z.infer<typeof listPushConfigsRequest>,
): Promise<object> {
  return run(listPushConfigsOperation, { agent: request.agent, task_id: taskId });
}

export function deletePushConfig({ run, request }: CallContext, { taskId, id }: Named): Promise<object> {
  return run(deletePushConfigOperation, { agent: request.agent, task_id: taskId, id });
}
