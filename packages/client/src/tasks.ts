import { backOffMs, wait as pause, waitOrAbort } from './calls/back-off.ts';
import type { Call } from './calls/nouns.ts';
import { isTransient, maxWaitSeconds } from './events/poll.ts';
import type { Task, TaskCalls, TaskWithMessages, UpdateTaskInput } from './generated/tasks.ts';

/** A message about a task: its text, or its fields. */
export type TaskText = string | NonNullable<UpdateTaskInput['message']>;

export interface TaskWaitOptions {
  /** Only a state of a newer generation than this ends the wait. Pass that of your last answer. Default: 0. */
  afterGeneration?: number;
  /** Default: no limit. */
  timeoutMs?: number;
  signal?: AbortSignal;
}

/** A task that this agent is asked, and what it can report. */
export interface OpenTask extends TaskWithMessages {
  /** Says that you work on it, with a note if there is one. */
  working(note?: TaskText): Promise<Task>;
  /** Asks the client for something. The task comes again after the answer. */
  askBack(question: TaskText): Promise<Task>;
  /** Ends it with the answer: a text, JSON in `data`, or both. */
  complete(answer?: TaskText, data?: unknown): Promise<Task>;
  fail(reason?: TaskText): Promise<Task>;
  reject(reason?: TaskText): Promise<Task>;
}

export interface TaskWork {
  /**
   * Waits until a task has ended or waits for its client, over restarts of the service. Null: it has not in time. A program that was started
   * again waits with the id of the task.
   */
  wait(task_id: string, options?: TaskWaitOptions): Promise<TaskWithMessages | null>;
  /**
   * Iterates over the open tasks that this agent is asked: first those that are open now, oldest first, then new ones. A task comes again
   * when the client has answered, and after any other change that you did not report with its methods. After a restart, all that are open
   * come again. Needs no inbox; several instances get the same tasks, unless they share one.
   */
  work(options?: { signal?: AbortSignal }): AsyncGenerator<OpenTask, void>;
}

/** The states in which a task waits for its client, and those in which it has ended. */
const waiting: ReadonlySet<string> = new Set(['input_required', 'auth_required']);
const ended: ReadonlySet<string> = new Set(['completed', 'failed', 'canceled', 'rejected']);

/** Whether a task has ended: it never changes again. */
export const isEnded = ({ state }: Pick<Task, 'state'>): boolean => ended.has(state);

/** Creates what clients and asked agents do with tasks besides single calls. */
export function createTaskWork(tasks: TaskCalls, call: Call): TaskWork {
  return {
    wait: (task_id, options = {}) => waitForTask(tasks, task_id, options),
    work: ({ signal } = {}) => iterate(tasks, call, signal ?? new AbortController().signal),
  };
}

async function waitForTask(
  tasks: TaskCalls,
  task_id: string,
  { afterGeneration = 0, timeoutMs = Infinity, signal }: TaskWaitOptions,
): Promise<TaskWithMessages | null> {
  const endsAt = Date.now() + timeoutMs;
  const leftMs = () => Math.max(0, endsAt - Date.now());
  let after_generation = afterGeneration;
  for (let failures = 0; ;) {
    const wait_seconds = Math.min(maxWaitSeconds, Math.ceil(leftMs() / 1_000));
    const callMs = Math.min(wait_seconds * 1_000 + 15_000, leftMs() + 1_000);
    try {
      const input = { task_id, after_generation, wait_seconds };
      const task = await tasks.get(input, { signal, timeoutMs: callMs });
      const isDue = isEnded(task) || waiting.has(task.state);
      if (isDue && task.generation > afterGeneration) return task;
      after_generation = Math.max(after_generation, task.generation);
      failures = 0;
    } catch (error) {
      if (signal?.aborted || !isTransient(error)) throw error;
      failures += 1;
      await pause(Math.min(leftMs(), backOffMs(failures)), signal);
    }
    if (leftMs() === 0) return null;
  }
}

interface EventPage {
  events: readonly { type: string }[];
  cursor: string;
  gap?: true;
}

/** The position is taken before the list, so that no change is missed. */
async function* iterate(tasks: TaskCalls, call: Call, signal: AbortSignal): AsyncGenerator<OpenTask, void> {
  /** The generation of each task that the agent knows. */
  const known = new Map<string, number>();
  const readEvents = (cursor: string, waitSeconds: number) =>
    call<EventPage>(
      { method: 'GET', path: '/events' },
      { cursor, limit: 100, wait: waitSeconds },
      { signal, maxRetries: 0, timeoutMs: waitSeconds * 1_000 + 15_000 },
    );
  let cursor = 'latest';
  let isStale = true;
  for (let failures = 0; !signal.aborted;) {
    const due: TaskWithMessages[] = [];
    try {
      const page = await readEvents(cursor, isStale ? 0 : maxWaitSeconds);
      cursor = page.cursor;
      isStale ||= page.gap === true || page.events.some(({ type }) => type === 'task.updated');
      if (isStale) due.push(...(await readDue(tasks, known, signal)));
      isStale = false;
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      if (!isTransient(error)) throw error;
      isStale = true;
      failures += 1;
      await waitOrAbort(backOffMs(failures), signal);
    }
    for (const task of due) {
      if (signal.aborted) return;
      const open = createOpenTask(tasks, task);
      yield open;
      known.set(task.id, open.generation);
    }
  }
}

/** The tasks that the agent has to work on, oldest first. */
async function readDue(
  tasks: TaskCalls,
  known: Map<string, number>,
  signal: AbortSignal,
): Promise<TaskWithMessages[]> {
  const open: Task[] = [];
  for await (const page of tasks.list({ role: 'asked', state: 'open', limit: 100 }, { signal }).pages())
    open.push(...page.tasks);
  const ids = new Set(open.map(({ id }) => id));
  for (const id of known.keys()) if (!ids.has(id)) known.delete(id);
  const isDue = ({ id, state, generation }: Task) =>
    !waiting.has(state) && !ended.has(state) && generation > (known.get(id) ?? 0);
  const due: TaskWithMessages[] = [];
  for (const { id: task_id } of open.filter(isDue).sort((a, b) => a.created_at - b.created_at))
    due.push(await tasks.get({ task_id }, { signal }));
  return due.filter(isDue);
}

function createOpenTask(tasks: TaskCalls, task: TaskWithMessages): OpenTask {
  async function report(
    state: UpdateTaskInput['state'],
    text?: TaskText,
    fields: Pick<UpdateTaskInput, 'data'> = {},
  ): Promise<Task> {
    const message = typeof text === 'string' ? { content: text } : text;
    const changed = await tasks.update({ task_id: task.id, state, message, ...fields });
    Object.assign(open, changed);
    return changed;
  }
  const open: OpenTask = {
    ...task,
    working: (note) => report('working', note),
    askBack: (question) => report('input_required', question),
    complete: (answer, data) => report('completed', answer, data === undefined ? {} : { data }),
    fail: (reason) => report('failed', reason),
    reject: (reason) => report('rejected', reason),
  };
  return open;
}
