import { expect, test } from 'vitest';
import {
  endedTaskStates,
  findTaskOf,
  nextTaskState,
  openTaskStates,
  type TaskCause,
  type TaskState,
} from '../../../packages/core/src/domain/tasks.ts';

/** The state after each cause, for the open states in their order. */
const table: [TaskCause, TaskState[]][] = [
  ['claim', ['working', 'working', 'input_required', 'auth_required']],
  ['lease_end', ['submitted', 'submitted', 'input_required', 'auth_required']],
  ['client_message', ['submitted', 'working', 'working', 'working']],
  ['cancel', ['canceled', 'canceled', 'canceled', 'canceled']],
  ['fail', ['failed', 'failed', 'failed', 'failed']],
  ['reject', ['rejected', 'rejected', 'rejected', 'rejected']],
  [{ report: 'input_required' }, openTaskStates.map(() => 'input_required')],
  [{ report: 'completed' }, openTaskStates.map(() => 'completed')],
];

test.each(table)('%j moves each open state, and no ended one', (cause, after) => {
  expect(openTaskStates.map((state) => nextTaskState(state, cause))).toEqual(after);
  expect(endedTaskStates.map((state) => nextTaskState(state, cause))).toEqual([...endedTaskStates]);
});

const task = (id: string, state: TaskState = 'submitted', client_id = 'ann') => {
  return { id, state, client_id, agent_id: client_id === 'ann' ? 'bob' : 'ann' };
};
const by = (sender_id: string, replied_task_id: string | null = null, opens_task = false) => {
  return { sender_id, replied_task_id, opens_task };
};

test('a message belongs to the task that it replies to, else to the oldest one of a thread of two', () => {
  const open = [task('1'), task('2', 'input_required'), task('3', 'submitted', 'bob')];
  const found = (message: ReturnType<typeof by>, isThreadOfTwo = true) =>
    findTaskOf(message, open, isThreadOfTwo)?.id;
  expect(found(by('bob'))).toBe('1');
  expect(found(by('bob', '2'))).toBe('2');
  expect(found(by('bob', 'ended'))).toBeUndefined();
  expect(found(by('bob', null, true))).toBeUndefined();
  expect(found(by('bob'), false)).toBeUndefined();
  expect(found(by('bob', '2'), false)).toBe('2');
  // The client answers the oldest task that waits for it; its other messages are ordinary ones.
  expect(found(by('ann', null, true))).toBeUndefined();
  expect(findTaskOf(by('ann'), open.slice(0, 2), true)?.id).toBe('2');
  expect(findTaskOf(by('ann'), open.slice(0, 1), true)).toBeUndefined();
  expect(found(by('cleo', '1'))).toBeUndefined();
});
