import { isDeepStrictEqual } from 'node:util';
import {
  isOpenTask,
  nextTaskState,
  reportedTaskStates,
  type TaskCause,
  type TaskState,
} from '../../packages/core/src/domain/tasks.ts';
import type { History, StoredTask, TaskUpdate } from '../history.ts';
import type { MessageData, ParsedFeed } from './event-data.ts';
import type { ThreadLog } from './thread-log.ts';
import type { Violation } from './violation.ts';

type Logs = ReadonlyMap<string, ThreadLog>;

/**
 * Checks that no task is in a state without its cause: its changes are without gaps, each follows from the one before, they are those that both
 * agents got and read, every acknowledged call is one of them, and every reply to an open task ended it.
 */
export function* checkTasks(
  history: History,
  feeds: readonly ParsedFeed[],
  logs: Logs,
): Generator<Violation> {
  for (const task of history.tasks) {
    yield* checkUpdates(task);
    const messages = logs.get(task.thread_id)?.messages ?? [];
    yield* checkMessagesOf(task, messages);
    for (const agent_id of [task.client_id, task.agent_id])
      yield* checkViewOf(agent_id, task, history, feeds);
    if (isOpenTask(task.state) && !task.has_questions)
      yield wrong(task, `sends in ${task.thread_id} do not look at it`);
    if (isHeldByDeadItem(task, history, feeds)) yield wrong(task, 'working by the lease of a dead item');
  }
  yield* checkForeign(history, feeds);
  yield* checkCalls(history, logs);
}

/** The messages of canceled tasks of an agent: no claim gets them, so no instance acknowledges them. */
export function listSkippedMessages({ tasks }: History, asked_id: string): string[] {
  return tasks.flatMap(({ agent_id, state, message_ids }) =>
    agent_id === asked_id && state === 'canceled' ? message_ids : [],
  );
}

const wrong = ({ id }: StoredTask, detail: string): Violation => ({
  kind: 'wrong task',
  detail: `${id}: ${detail}`,
});

function* checkUpdates(task: StoredTask): Generator<Violation> {
  const { id, client_id, message_id, state, generation, updates } = task;
  for (const [index, update] of updates.entries()) {
    if (update.generation !== index + 1)
      yield { kind: 'hole', detail: `change ${update.generation} of ${id} is number ${index + 1}` };
    const before = updates[index - 1];
    if (before && !hasCause(task, before.state, update))
      yield wrong(task, `${update.change} ${update.state} by ${update.by_id} after ${before.state}`);
  }
  const first = { generation: 1, change: 'created', state: 'submitted', message_id, by_id: client_id };
  if (!isDeepStrictEqual(updates[0], first)) yield wrong(task, 'its first change is not its opening');
  const last = updates.at(-1);
  if (last?.state !== state || last.generation !== generation)
    yield wrong(task, `${state} in generation ${generation} is not its last change`);
}

/** Whether a fact leads from one state to the next, by the rules of the service. */
function hasCause(
  task: StoredTask,
  before: TaskState,
  { change, state, message_id, by_id }: TaskUpdate,
): boolean {
  if (!isOpenTask(before) || change === 'created') return false;
  if (change === 'result') return state === before && by_id === task.agent_id && message_id !== null;
  if (change === 'overdue') return state === before && by_id === null;
  // Only the asked agent may say the same state again.
  if (state === before && by_id !== task.agent_id) return false;
  return listCauses(task, by_id, message_id !== null).some((cause) => nextTaskState(before, cause) === state);
}

/** What an agent, or the service without one, can cause. */
function listCauses(task: StoredTask, by_id: string | null, hasMessage: boolean): readonly TaskCause[] {
  if (by_id === null) return ['lease_end', 'fail'];
  if (by_id === task.agent_id) {
    const reports = reportedTaskStates.map((report) => ({ report }));
    return hasMessage ? reports : [...reports, 'claim'];
  }
  if (by_id === task.client_id) return hasMessage ? ['client_message'] : ['cancel', 'fail'];
  return ['fail'];
}

/** Checks the messages that caused changes, and that each reply of the asked agent to the question caused one while the task was open. */
function* checkMessagesOf(task: StoredTask, messages: readonly MessageData[]): Generator<Violation> {
  const byId = new Map(messages.map((message) => [message.id, message]));
  for (const { generation, message_id, by_id } of task.updates) {
    if (message_id === null || byId.get(message_id)?.sender.id === by_id) continue;
    yield wrong(task, `the cause of change ${generation} is no message of ${by_id}: ${message_id}`);
  }
  const causes = new Set(task.updates.map(({ message_id }) => message_id));
  const last = isOpenTask(task.state) ? undefined : task.updates.at(-1);
  // What ended it without a message has no place among the messages.
  if (last?.message_id === null) return;
  const end = byId.get(last?.message_id ?? '')?.sequence ?? Number.POSITIVE_INFINITY;
  for (const { id, sender, reply_to, sequence } of messages)
    if (reply_to === task.message_id && sender.id === task.agent_id && sequence < end && !causes.has(id))
      yield wrong(task, `the reply ${id} changed nothing`);
}

/** Checks that an agent of a task got its changes as events, and reads its state. */
function* checkViewOf(
  agent_id: string,
  task: StoredTask,
  { read_tasks }: History,
  feeds: readonly ParsedFeed[],
): Generator<Violation> {
  const received = (feeds.find((feed) => feed.agent_id === agent_id)?.events ?? []).flatMap(
    ({ type, data }): TaskUpdate[] => {
      if (type !== 'task.updated' || data.task.id !== task.id) return [];
      const { state, generation } = data.task;
      const { change, message_id, by } = data;
      return [{ generation, change, state, message_id, by_id: by?.id ?? null }];
    },
  );
  if (!isDeepStrictEqual(received, task.updates)) {
    const got = received.map(({ generation, state }) => `${generation} ${state}`).join(', ');
    yield wrong(task, `the feed of ${agent_id} has other changes than the ${task.generation} stored: ${got}`);
  }
  const read = read_tasks.find((each) => each.agent_id === agent_id)?.tasks.find(({ id }) => id === task.id);
  if (read?.state !== task.state || read.generation !== task.generation)
    yield wrong(task, `${agent_id} reads ${read ? `${read.state} ${read.generation}` : 'nothing'}`);
}

/** Whether a lease that has ended keeps a task working: the item of its question is dead. */
function isHeldByDeadItem(
  { agent_id, message_id, state, lease_token }: StoredTask,
  { stored_inboxes }: History,
  feeds: readonly ParsedFeed[],
): boolean {
  if (state !== 'working' || lease_token === null) return false;
  const dead = new Set(
    stored_inboxes.filter((inbox) => inbox.agent_id === agent_id).flatMap((inbox) => inbox.dead),
  );
  const events = feeds.find((feed) => feed.agent_id === agent_id)?.events ?? [];
  const item = events.find(({ type, data }) => type === 'message.created' && data.id === message_id);
  return [...dead].some(({ event_id }) => event_id === item?.seen.event_id);
}

/** Checks that only the two agents of a task learn of it. */
function* checkForeign({ tasks, read_tasks }: History, feeds: readonly ParsedFeed[]): Generator<Violation> {
  const sides = new Map(tasks.map(({ id, client_id, agent_id }) => [id, [client_id, agent_id]]));
  for (const { agent_id, events } of feeds)
    for (const { type, data } of events)
      if (type === 'task.updated' && !sides.get(data.task.id)?.includes(agent_id))
        yield { kind: 'foreign', detail: `task.updated of ${data.task.id} in the feed of ${agent_id}` };
  for (const { agent_id, tasks: read } of read_tasks)
    for (const { id } of read)
      if (!sides.get(id)?.includes(agent_id))
        yield { kind: 'foreign', detail: `${id} in the tasks of ${agent_id}` };
}

/** Checks that every acknowledged call is one of the changes of its task, and that each task has the call that opened it. */
function* checkCalls({ tasks, task_calls }: History, logs: Logs): Generator<Violation> {
  const contents = new Map(
    [...logs.values()].flatMap(({ messages }) => messages.map(({ id, content }) => [id, content])),
  );
  const opened = new Set<string>();
  for (const { key, kind, agent_id, draft, answers } of task_calls) {
    const [answer] = answers;
    if (!answer || answer.ended) continue;
    const { task_id, state, generation } = answer;
    if (kind === 'open') opened.add(task_id);
    const updates = tasks.find(({ id }) => id === task_id)?.updates ?? [];
    const update = updates.find((each) => each.generation === generation);
    // A report that was true already changes nothing: another cause made it true.
    const isOwn = update?.by_id === agent_id || (state === 'working' && !draft);
    const isSent =
      !draft || updates.some(({ message_id }) => contents.get(message_id ?? '') === draft.content);
    if (update?.state === state && isOwn && isSent) continue;
    yield { kind: 'lost', detail: `${kind} ${key} of ${task_id}: ${state} in generation ${generation}` };
  }
  if (task_calls.some(({ kind, answers }) => kind === 'open' && answers.length === 0)) return;
  for (const { id } of tasks)
    if (!opened.has(id)) yield { kind: 'doubled', detail: `task ${id}, which no key opened` };
}
