import { DomainError, wrongField } from '../domain/errors.ts';
import {
  isOpenTask,
  maxOpenTasks,
  nextTaskState,
  type TaskCause,
  type TaskChange,
  taskLifeMs,
  type TaskParties,
  type TaskState,
} from '../domain/tasks.ts';

/** The columns that change with a task. */
export interface ChangingTask {
  state: TaskState;
  generation: number;
  /** The fencing token of the lease that made it `working`; null if the agent said so itself. */
  lease_token: number | null;
  updated_at: number;
  expires_at: number;
  ended_at: number | null;
}

/** The time of a change, and how long a task is kept. */
export interface TaskClock {
  now: number;
  taskDays: number;
}

/** Writes the next generation of a task; the first one with `created`. Time never runs backwards along the generations. */
export function advanceTask(task: ChangingTask, change: TaskChange, { now, taskDays }: TaskClock): void {
  if (change !== 'created') task.generation += 1;
  task.updated_at = Math.max(task.updated_at, now);
  task.expires_at = task.updated_at + taskLifeMs(taskDays);
  task.ended_at = isOpenTask(task.state) ? null : (task.ended_at ?? task.updated_at);
  if (task.state !== 'working') task.lease_token = null;
}

/**
 * Sets the state of a task after a cause. What the agent reports itself no longer ends with a lease.
 * @param hasMessage whether the cause has a message: then an agent can report a state again.
 * @returns whether that is a change
 */
export function setTaskState(task: ChangingTask, cause: TaskCause, hasMessage: boolean): boolean {
  if (!isOpenTask(task.state)) return false;
  const state = nextTaskState(task.state, cause);
  const isReport = typeof cause === 'object';
  const isSaidAgain = isReport && (hasMessage || task.lease_token !== null);
  if (state === task.state && !isSaidAgain) return false;
  if (isReport) task.lease_token = null;
  task.state = state;
  return true;
}

/** What an agent causes by closing the thread of a task. */
export function causeOfClosing({ client_id, agent_id }: TaskParties, actor_id: string): TaskCause {
  if (actor_id === client_id) return 'cancel';
  return actor_id === agent_id ? 'reject' : 'fail';
}

/** What the end of a membership causes for a task of that member; undefined for a task of others. */
export function causeOfLeaving(
  task: TaskParties,
  member_id: string,
  actor_id: string,
): TaskCause | undefined {
  if (task.client_id !== member_id && task.agent_id !== member_id) return undefined;
  return member_id === actor_id ? causeOfClosing(task, actor_id) : 'fail';
}

/** The refusal for a task that does not exist or that the actor is no side of. */
export function taskNotFound(): DomainError {
  return new DomainError('TASK_NOT_FOUND', 'No such task, or you are neither its client nor its agent.');
}

/** @throws {DomainError} FORBIDDEN (the client) */
export function requireAskedAgent({ agent_id }: TaskParties, actor_id: string): void {
  if (agent_id === actor_id) return;
  throw new DomainError('FORBIDDEN', 'Only the asked agent reports the state. You can cancel the task.');
}

/** @throws {DomainError} FORBIDDEN (the asked agent) */
export function requireTaskClient({ client_id }: TaskParties, actor_id: string): void {
  if (client_id === actor_id) return;
  throw new DomainError('FORBIDDEN', 'Only the client cancels. Report that you reject the task.');
}

/** @throws {DomainError} INVALID_TRANSITION (it has ended) */
export function requireOpenTask({ state }: { state: TaskState }): void {
  if (isOpenTask(state)) return;
  throw new DomainError('INVALID_TRANSITION', `This task has ended: it is ${state}.`);
}

/** @throws {DomainError} VALIDATION_ERROR (later than a task lives) */
export function requirePossibleDue(seconds: number | undefined, taskDays: number): void {
  if (seconds !== undefined && seconds * 1_000 > taskLifeMs(taskDays))
    throw wrongField('due_in_seconds', `must be at most ${taskLifeMs(taskDays) / 1_000}: ${taskDays} days`);
}

/** @throws {DomainError} RATE_LIMITED (the client has the maximum of open tasks with the agent) */
export function requireRoomForTask(openTasks: number): void {
  if (openTasks < maxOpenTasks) return;
  throw new DomainError(
    'RATE_LIMITED',
    `You have ${maxOpenTasks} open tasks with this agent. Wait for its answers, or cancel some.`,
    { retry_after: 60 },
  );
}

/**
 * Returns the member of a thread that is asked: the one with this id or handle; without one, the other member of a thread of two.
 * @param others the other members.
 * @throws {DomainError} AGENT_NOT_FOUND
 */
export function findAskedMember<Member extends { id: string; canonical_handle: string }>(
  others: readonly Member[],
  ref: string | undefined,
  parseKey: (ref: string) => string,
): Member | undefined {
  if (ref === undefined) return others.length === 1 ? others[0] : undefined;
  const key = parseKey(ref);
  const member = others.find(({ id, canonical_handle }) => id === key || canonical_handle === key);
  if (member) return member;
  throw new DomainError('AGENT_NOT_FOUND', `No such other member of this thread: ${ref.slice(0, 80)}`);
}

interface DescribedTask {
  id: string;
  state: TaskState;
  client_handle: string;
  created_at: number;
  due_at: number | null;
  overdue_at: number | null;
}

const toText = (time: number): string => new Date(time).toISOString();

/** Says to the asked agent who waits for its answer to a message, and how to end the task. Undefined for a task that has ended. */
export function describeOpenTask(task: DescribedTask): string | undefined {
  if (!isOpenTask(task.state)) return undefined;
  const { id, client_handle, created_at, due_at, overdue_at } = task;
  const due = overdue_at === null ? 'and wants it until' : 'and wanted it until';
  const until = due_at === null ? '' : ` ${due} ${toText(due_at)}`;
  return `${client_handle} waits for your answer since ${toText(created_at)}${until}. A reply completes the task ${id}; report other states with update_task.`;
}

interface AskingMessage {
  id: string;
  thread_id: string;
  sequence: number;
  created_at: number;
}

interface NewTask {
  id: string;
  message: AskingMessage;
  client: { id: string; canonical_handle: string };
  agent: { id: string; canonical_handle: string };
  due_in_seconds: number | undefined;
  accepted_output_modes: readonly string[];
}

/** Returns the columns of a task that a message opens. */
export function createTask(
  { id, message, client, agent, due_in_seconds, accepted_output_modes }: NewTask,
  taskDays: number,
) {
  const { thread_id, sequence, created_at } = message;
  return {
    id,
    thread_id,
    message_id: message.id,
    sequence,
    client_id: client.id,
    client_handle: client.canonical_handle,
    agent_id: agent.id,
    agent_handle: agent.canonical_handle,
    state: 'submitted' as const,
    generation: 1,
    due_at: due_in_seconds === undefined ? null : created_at + due_in_seconds * 1_000,
    overdue_at: null,
    accepted_output_modes: [...accepted_output_modes],
    lease_token: null,
    created_at,
    updated_at: created_at,
    expires_at: created_at + taskLifeMs(taskDays),
    ended_at: null,
  };
}
