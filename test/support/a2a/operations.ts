import type { A2aType } from './schemas.ts';

export interface A2aOperation {
  method: string;
  http: 'GET' | 'POST' | 'DELETE';
  /** Names in braces are taken out of the parameters. */
  path: string;
  answer: A2aType;
}

const send: A2aOperation = {
  method: 'SendMessage',
  http: 'POST',
  path: '/message:send',
  answer: 'SendMessageResponse',
};
const configs = '/tasks/{taskId}/pushNotificationConfigs';
const config = { path: `${configs}/{id}`, answer: 'TaskPushNotificationConfig' } as const;

/** Sections 9 and 11 of A2A 1.0, by the names that the conformance tests of the A2A project have for them. */
export const operations: Record<string, A2aOperation> = {
  send_message: send,
  send_streaming_message: {
    ...send,
    method: 'SendStreamingMessage',
    path: '/message:stream',
    answer: 'StreamResponse',
  },
  get_task: { method: 'GetTask', http: 'GET', path: '/tasks/{id}', answer: 'Task' },
  list_tasks: { method: 'ListTasks', http: 'GET', path: '/tasks', answer: 'ListTasksResponse' },
  cancel_task: { method: 'CancelTask', http: 'POST', path: '/tasks/{id}:cancel', answer: 'Task' },
  subscribe_to_task: {
    method: 'SubscribeToTask',
    http: 'GET',
    path: '/tasks/{id}:subscribe',
    answer: 'StreamResponse',
  },
  get_extended_agent_card: {
    method: 'GetExtendedAgentCard',
    http: 'GET',
    path: '/extendedAgentCard',
    answer: 'AgentCard',
  },
  create_push_config: { method: 'CreateTaskPushNotificationConfig', http: 'POST', ...config, path: configs },
  get_push_config: { method: 'GetTaskPushNotificationConfig', http: 'GET', ...config },
  delete_push_config: {
    ...config,
    method: 'DeleteTaskPushNotificationConfig',
    http: 'DELETE',
    answer: 'Empty',
  },
  list_push_configs: {
    method: 'ListTaskPushNotificationConfigs',
    http: 'GET',
    path: configs,
    answer: 'ListTaskPushNotificationConfigsResponse',
  },
};
