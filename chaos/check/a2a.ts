import { isDeepStrictEqual } from 'node:util';
import { isOpenTask } from '../../packages/core/src/domain/tasks.ts';
import type { A2aTask, History, StoredTask } from '../history.ts';
import type { Violation } from './violation.ts';

/**
 * Checks the tasks of clients that use A2A: all streams of a task together told its changes in order, once each, and GetTask gives the task that
 * they told. That each message has one task is checked with the other calls.
 */
export function* checkA2aTasks({ a2a_tasks, tasks }: History): Generator<Violation> {
  for (const followed of a2a_tasks) {
    const task = tasks.find(({ id }) => id === followed.task_id);
    if (task) yield* checkTask(followed, task);
    else yield { kind: 'lost', detail: `task ${followed.task_id}, which was opened over A2A` };
  }
}

function* checkTask({ task_id, seen, read }: A2aTask, task: StoredTask): Generator<Violation> {
  const { state, generation, updates } = task;
  const where = `over A2A of ${task_id}`;
  let last = 1;
  for (const told of seen) {
    const what = `update ${told.generation} (${told.update}) ${where}`;
    if (told.generation <= last) yield { kind: 'repeated after resume', detail: `${what} follows ${last}` };
    if (told.generation > last + 1) yield { kind: 'hole', detail: `${what} follows ${last}` };
    last = told.generation;
    const stored = updates.find((update) => update.generation === told.generation);
    const expected = stored?.change === 'result' ? 'result' : stored?.state;
    if (told.update !== expected) yield { kind: 'changed', detail: `${what} is stored as ${expected}` };
  }
  // A task that ends while no stream is open has no further stream: GetTask tells the rest.
  if (isOpenTask(state) && last !== generation)
    yield { kind: 'not seen', detail: `updates ${where} after ${last} of ${generation}` };
  const results = updates.filter(({ change }) => change === 'result').length;
  const { thread_id } = task;
  if (!isDeepStrictEqual(read, { task_id, thread_id, state, generation, results }))
    yield { kind: 'wrong task', detail: `${task_id} as GetTask gives it: ${JSON.stringify(read)}` };
}
