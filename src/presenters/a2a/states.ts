import { type TaskState, taskStates } from '../../../packages/core/src/domain/tasks.ts';

/** The states of A2A (A2A 1.0, section 4.1.3). */
export const wireTaskStates = taskStates.map(
  (state) => `TASK_STATE_${state.toUpperCase() as Uppercase<TaskState>}` as const,
);

export type WireTaskState = (typeof wireTaskStates)[number];

/** Returns a state as A2A names it. */
export const toWireState = (state: TaskState): WireTaskState =>
  `TASK_STATE_${state.toUpperCase() as Uppercase<TaskState>}`;

/** Returns the state that A2A names so; null for the unset value. */
export function fromWireState(wire: WireTaskState | 'TASK_STATE_UNSPECIFIED' | undefined): TaskState | null {
  return taskStates.find((state) => toWireState(state) === wire) ?? null;
}
