import { expect, test } from 'vitest';
import { checkHistory } from '../../../chaos/check/check.ts';
import type { A2aTask, History } from '../../../chaos/history.ts';
import { createValidHistory } from './valid-history.ts';
import { at, expectViolations, type Mutation } from './violations.ts';

/** A valid history whose task was opened over A2A, and followed over two streams. */
function createHistory(): History {
  const followed: A2aTask = {
    task_id: 'tsk_1',
    streams: 2,
    seen: [
      { generation: 2, update: 'working' },
      { generation: 3, update: 'result' },
      { generation: 4, update: 'completed' },
    ],
    read: { task_id: 'tsk_1', thread_id: 'thd_old', state: 'completed', generation: 4, results: 1 },
  };
  return { ...createValidHistory(), a2a_tasks: [followed] };
}

const task = ({ a2a_tasks }: History): A2aTask => at(a2a_tasks, 0);

const mutations: Mutation[] = [
  [
    'an update that no stream told',
    (history) => void task(history).seen.splice(1, 1),
    [['hole', /update 4 \(completed\) over A2A of tsk_1 follows 2/]],
  ],
  [
    'an update that a resumed stream told again',
    (history) => void task(history).seen.splice(1, 0, at(task(history).seen, 0)),
    [['repeated after resume', /update 2 \(working\) over A2A of tsk_1 follows 2/]],
  ],
  [
    'an update that is stored as another one',
    (history) => void (at(task(history).seen, 1).update = 'failed'),
    [['changed', /update 3 \(failed\) over A2A of tsk_1 is stored as result/]],
  ],
  [
    'a task that GetTask gives without its result',
    (history) => Object.assign(task(history).read ?? {}, { results: 0 }),
    [['wrong task', /tsk_1 as GetTask gives it: .*"results":0/]],
  ],
  [
    'a task that GetTask does not give',
    (history) => void (task(history).read = null),
    [['wrong task', /tsk_1 as GetTask gives it: null/]],
  ],
  [
    'a task that is not stored',
    (history) => void (task(history).task_id = 'tsk_2'),
    [['lost', /task tsk_2, which was opened over A2A/]],
  ],
];

test.each(mutations)('reports %s', (_what, mutate, expected) =>
  expectViolations(mutate, expected, createHistory()),
);

test('reports no update that an ended task had while no stream was open', () => {
  const history = createHistory();
  task(history).seen.pop();
  expect(checkHistory(history)).toEqual([]);
});
