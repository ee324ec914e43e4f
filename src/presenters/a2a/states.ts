import { type TaskState, taskStates } from '../../../packages/core/src/domain/tasks.ts';

/** The states of A2A, each at the place of its number (A2A 1.0, section 4.1.3). */
export const wireTaskStates = [
  'TASK_STATE_UNSPECIFIED',
  'TASK_STATE_SUBMITTED',
  'TASK_STATE_WORKING',
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_REJECTED',
  'TASK_STATE_AUTH_REQUIRED',
] as const;

export type WireTaskState = (typeof wireTaskStates)[number];

/** Returns a state as A2A names it. */
export const toWireState = (state: TaskState): WireTaskState =>
  `TASK_STATE_${state.toUpperCase() as Uppercase<TaskState>}`;

/** Returns the state with this name in A2A; null for the unset value. */
export function fromWireState(wire: WireTaskState | undefined): TaskState | null {
  return taskStates.find((state) => toWireState(state) === wire) ?? null;
}
