import { StreamResponse, Task } from '@a2a-js/sdk';
import { expect, test } from 'vitest';
import { expectValidA2a } from '../../support/a2a/expect-valid.ts';
import type { A2aType } from '../../support/a2a/schemas.ts';

const message = { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'Hello' }] };
const task = {
  id: 'tsk_1',
  contextId: 'thd_1',
  status: { state: 'TASK_STATE_COMPLETED', timestamp: '2026-11-26T10:00:00.000Z' },
  artifacts: [{ artifactId: 'msg_2', parts: [{ data: { day: 'Friday' }, mediaType: 'application/json' }] }],
  history: [message],
};
const info = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'TASK_NOT_FOUND', domain: 'd' };

test.each<[A2aType, unknown]>([
  ['Task', task],
  // Written by the generated code of the A2A project.
  ['Task', Task.toJSON(Task.fromJSON(task))],
  ['StreamResponse', StreamResponse.toJSON(StreamResponse.fromJSON({ task }))],
  ['SendMessageResponse', { message }],
  ['HttpError', { error: { code: 404, status: 'NOT_FOUND', message: 'No such task.', details: [info] } }],
  ['JsonRpcError', { code: -32_601, message: 'No such method.' }],
])('accepts a %s', (type, json) => {
  expect(() => expectValidA2a(type, json)).not.toThrow();
});

test.each<[A2aType, string, unknown]>([
  ['Task', 'an unknown field', { ...task, kind: 'task' }],
  ['Task', 'a name of the proto file', { ...task, context_id: 'thd_1' }],
  ['Task', 'a state of 0.3', { ...task, status: { state: 'completed' } }],
  [
    'Task',
    'a time with an offset',
    { ...task, status: { ...task.status, timestamp: '2026-11-26T10:00:00+01:00' } },
  ],
  ['Task', 'a null', { ...task, metadata: null }],
  ['Task', 'an artifact without parts', { ...task, artifacts: [{ artifactId: 'a', parts: [] }] }],
  ['SendMessageResponse', 'two payloads', { task, message }],
  ['StreamResponse', 'no payload', {}],
  [
    'SendMessageResponse',
    'a part with two contents',
    { message: { ...message, parts: [{ text: 'a', url: 'https://b.example' }] } },
  ],
  [
    'HttpError',
    'details without a type',
    { error: { code: 404, status: 'NOT_FOUND', message: 'No.', details: [{}] } },
  ],
  ['JsonRpcError', 'a code of HTTP', { code: 404, message: 'No such task.' }],
])('refuses a %s with %s', (type, _, json) => {
  expect(() => expectValidA2a(type, json)).toThrow(`no valid ${type}`);
});
