import { expect, test } from 'vitest';
import { checkHistory } from '../../../chaos/check/check.ts';
import type { History, StoredTask } from '../../../chaos/history.ts';
import { createValidHistory } from './valid-history.ts';
import { at, changeData, expectViolations, type Mutation, removeEvents } from './violations.ts';

const [ann, bob] = ['agt_ann', 'agt_bob'] as const;

const task = ({ tasks }: History): StoredTask => at(tasks, 0);
const update = (history: History, generation: number) => at(task(history).updates, generation - 1);

/** Removes the last changes of the task, with their events, as if they had not happened. */
function endAfter(history: History, generation: number): void {
  const { updates } = task(history);
  const removed = updates.splice(generation).map((each) => `evt_task_${each.generation}`);
  removeEvents(history, [ann, bob], removed);
  const { state } = at(updates, generation - 1);
  Object.assign(task(history), { state, generation });
  for (const { tasks } of history.read_tasks)
    for (const each of tasks) Object.assign(each, { state, generation });
}

const mutations: Mutation[] = [
  [
    'a change that is missing in the feed of one side',
    (history) => removeEvents(history, [ann], ['evt_task_2']),
    [
      [
        'wrong task',
        /tsk_1: the feed of agt_ann has other changes than the 4 stored: 1 submitted, 3 working/,
      ],
    ],
  ],
  [
    'an event without a row',
    (history) => void task(history).updates.pop(),
    [
      ['wrong task', /tsk_1: completed in generation 4 is not its last change/],
      ['wrong task', /the feed of agt_\w+ has other changes/, 2],
    ],
  ],
  [
    'a generation that was left out',
    (history) => {
      task(history).updates.splice(1, 1);
      removeEvents(history, [ann, bob], ['evt_task_2']);
    },
    [
      ['hole', /change 3 of tsk_1 is number 2/],
      ['hole', /change 4 of tsk_1 is number 3/],
      ['wrong task', /result working by agt_bob after submitted/],
      ['lost', /update key-update of tsk_1: working in generation 2/],
    ],
  ],
  [
    'a state that the client cannot cause',
    (history) => {
      update(history, 2).by_id = ann;
      changeData(history, [ann, bob], 'evt_task_2', (data) => void (data.by.id = ann));
      history.webhooks.length = 0;
    },
    [['wrong task', /state working by agt_ann after submitted/]],
  ],
  [
    'a task that is open although the agent replied',
    (history) => {
      endAfter(history, 2);
      task(history).has_questions = true;
    },
    [['wrong task', /tsk_1: the reply msg_2 changed nothing/]],
  ],
  [
    'an open task that sends do not look at',
    (history) => {
      endAfter(history, 2);
    },
    [
      ['wrong task', /the reply msg_2 changed nothing/],
      ['wrong task', /sends in thd_old do not look at it/],
    ],
  ],
  [
    'an acknowledged update that is not stored',
    ({ task_calls }) => {
      for (const answer of at(task_calls, 1).answers) Object.assign(answer, { state: 'failed' });
    },
    [['lost', /update key-update of tsk_1: failed in generation 2/]],
  ],
  [
    'a task that no key opened',
    ({ task_calls }) => {
      for (const answer of at(task_calls, 0).answers) Object.assign(answer, { task_id: 'tsk_2' });
    },
    [
      ['lost', /open key-open of tsk_2/],
      ['doubled', /task tsk_1, which no key opened/],
    ],
  ],
  [
    'a task that one side reads in another state',
    ({ read_tasks }) => void (at(at(read_tasks, 1).tasks, 0).generation = 3),
    [['wrong task', /tsk_1: agt_bob reads completed 3/]],
  ],
  [
    'a task in the list of a third agent',
    ({ read_tasks }) => void read_tasks.push({ agent_id: 'agt_cid', tasks: at(read_tasks, 0).tasks }),
    [['foreign', /tsk_1 in the tasks of agt_cid/]],
  ],
];

test.each(mutations)('reports %s', (_what, mutate, expected) => expectViolations(mutate, expected));

test('a valid history has no violation', () => {
  expect(checkHistory(createValidHistory())).toEqual([]);
});
