import type { z } from 'zod';
import { cancelA2aTaskOperation } from '../../operations/a2a/cancel-task.ts';
import { createPushConfigOperation } from '../../operations/a2a/create-push-config.ts';
import { deletePushConfigOperation } from '../../operations/a2a/delete-push-config.ts';
import { getExtendedAgentCardOperation } from '../../operations/a2a/get-extended-agent-card.ts';
import { getPushConfigOperation } from '../../operations/a2a/get-push-config.ts';
import { listPushConfigsOperation } from '../../operations/a2a/list-push-configs.ts';
import { getA2aTaskOperation } from '../../operations/a2a/get-task.ts';
import { listA2aTasksOperation } from '../../operations/a2a/list-tasks.ts';
import { sendA2aMessageOperation } from '../../operations/a2a/send-message.ts';
import type { Operation } from '../../operations/define.ts';
import {
  listPushConfigsRequest,
  namedPushConfigRequest,
  pushConfigRequest,
} from '../../presenters/a2a/push-config.ts';
import {
  emptyRequest,
  getTaskRequest,
  listTasksRequest,
  sendMessageRequest,
  taskRequest,
} from '../../presenters/a2a/request.ts';
import { cancel, get, getExtendedCard, list, send, sendAndStream, subscribe } from './calls.ts';
import type { CallContext } from './context.ts';
import type { A2aReason } from './errors.ts';
import { createPushConfig, deletePushConfig, getPushConfig, listPushConfigs } from './push-configs.ts';
import { withdraw } from './send.ts';

/** One method of A2A, in both bindings. */
export interface Method<Params = unknown> {
  /** Its name in JSON-RPC. */
  name: string;
  /** Its routes in HTTP+JSON. `{name}` is a field of the request. */
  routes: readonly `${'GET' | 'POST' | 'DELETE'} /${string}`[];
  request: z.ZodType<Params>;
  /** Its scope is checked before the request is parsed. */
  operation: Operation;
  /** The error of A2A for a task that has ended. Default: UNSUPPORTED_OPERATION. */
  ended?: A2aReason;
  /** Returns the result, or null after it has started a stream. */
  run(context: CallContext, params: Params): Promise<object | null>;
}

/** Infers the type of the request. `run` has method syntax on purpose: a list of different methods then has one type without casts. */
const defineMethod = <Params>(method: Method<Params>): Method => method;

/** The methods of A2A 1.0 (section 5.3). Both bindings, the tests and the documents read this table. */
export const methods: readonly Method[] = [
  defineMethod({
    name: 'SendMessage',
    routes: ['POST /message:send'],
    request: sendMessageRequest,
    operation: sendA2aMessageOperation,
    run: async (context, params) =>
      (await withdraw(context, params)) ?? { task: await send(context, params) },
  }),
  defineMethod({
    name: 'SendStreamingMessage',
    routes: ['POST /message:stream'],
    request: sendMessageRequest,
    operation: sendA2aMessageOperation,
    run: sendAndStream,
  }),
  defineMethod({
    name: 'GetTask',
    routes: ['GET /tasks/{id}'],
    request: getTaskRequest,
    operation: getA2aTaskOperation,
    run: get,
  }),
  defineMethod({
    name: 'ListTasks',
    routes: ['GET /tasks'],
    request: listTasksRequest,
    operation: listA2aTasksOperation,
    run: list,
  }),
  defineMethod({
    name: 'CancelTask',
    routes: ['POST /tasks/{id}:cancel'],
    request: taskRequest,
    operation: cancelA2aTaskOperation,
    ended: 'TASK_NOT_CANCELABLE',
    run: cancel,
  }),
  defineMethod({
    name: 'SubscribeToTask',
    // The specification has POST, its proto file has GET.
    routes: ['POST /tasks/{id}:subscribe', 'GET /tasks/{id}:subscribe'],
    request: taskRequest,
    operation: getA2aTaskOperation,
    run: subscribe,
  }),
  defineMethod({
    name: 'GetExtendedAgentCard',
    routes: ['GET /extendedAgentCard'],
    request: emptyRequest,
    operation: getExtendedAgentCardOperation,
    run: getExtendedCard,
  }),
  defineMethod({
    name: 'CreateTaskPushNotificationConfig',
    routes: ['POST /tasks/{taskId}/pushNotificationConfigs'],
    request: pushConfigRequest,
    operation: createPushConfigOperation,
    run: createPushConfig,
  }),
  defineMethod({
    name: 'GetTaskPushNotificationConfig',
    routes: ['GET /tasks/{taskId}/pushNotificationConfigs/{id}'],
    request: namedPushConfigRequest,
    operation: getPushConfigOperation,
    run: getPushConfig,
  }),
  defineMethod({
    name: 'ListTaskPushNotificationConfigs',
    routes: ['GET /tasks/{taskId}/pushNotificationConfigs'],
    request: listPushConfigsRequest,
    operation: listPushConfigsOperation,
    run: listPushConfigs,
  }),
  defineMethod({
    name: 'DeleteTaskPushNotificationConfig',
    routes: ['DELETE /tasks/{taskId}/pushNotificationConfigs/{id}'],
    request: namedPushConfigRequest,
    operation: deletePushConfigOperation,
    run: deletePushConfig,
  }),
];
