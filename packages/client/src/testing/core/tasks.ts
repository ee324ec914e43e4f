import {
  findTaskOf,
  isOpenTask,
  nextTaskState,
  type ReportedTaskState,
  type TaskCause,
  type TaskChange,
} from '../../../../core/src/domain/tasks.ts';
import {
  advanceTask,
  causeOfClosing,
  causeOfLeaving,
  setTaskState,
} from '../../../../core/src/policies/tasks.ts';
import { emit } from './feed.ts';
import type { AgentRef, InboxItem, Message, Task, Thread } from './records.ts';
import type { Call, State } from './state.ts';

/** As TASK_DAYS of the service. */
export const taskDays = 30;

/** What caused a change of a task: a message, and an agent or, without one, the service. */
interface Origin {
  message_id?: string | null;
  by: AgentRef | null;
}

/** The caller, as the origin of a change. */
export const byCaller = ({ me: { id, canonical_handle } }: Call): AgentRef => ({ id, canonical_handle });

/** The open tasks of a thread, oldest first. */
const listOpen = ({ tasks }: State, thread_id: string): Task[] =>
  [...tasks.values()].filter((task) => task.thread_id === thread_id && isOpenTask(task.state));

/** Applies a cause to a task. */
export function moveTask(state: State, task: Task, cause: TaskCause, origin: Origin): void {
  if (!setTaskState(task, cause, origin.message_id !== undefined)) return;
  if (task.state === 'canceled') task.ended_delivery = deliveryOf(state, task);
  recordChange(state, task, 'state', origin);
}

/** Writes the next generation of a task, with its event. */
export function recordChange(
  state: State,
  task: Task,
  change: TaskChange,
  { message_id = null, by }: Origin,
): void {
  advanceTask(task, change, { now: state.clock.now(), taskDays });
  task.activity = Math.max(...[...state.tasks.values()].map(({ activity }) => activity)) + 1;
  emit(state, {
    type: 'task.updated',
    thread_id: task.thread_id,
    recipients: [task.client_id, task.agent_id],
    data: { task: { ...task }, change, message_id, by },
  });
}

/** Whether the asked agent has received, read or handled the asking message. */
export function deliveryOf({ threads }: State, { thread_id, agent_id, sequence, ended_delivery }: Task) {
  if (ended_delivery) return ended_delivery;
  const member = threads.get(thread_id)?.members.find(({ id }) => id === agent_id);
  if (!member) return 'stored';
  if (member.handled_sequence >= sequence) return 'handled';
  if (member.read_sequence >= sequence) return 'read';
  return member.delivered_sequence >= sequence ? 'delivered' : 'stored';
}

/** Notes that a message belongs to a task. */
export function addTaskMessage(
  { taskOfMessage }: State,
  task: Task,
  message: Message,
  { artifact = false, data = null }: { artifact?: boolean; data?: string | null } = {},
): void {
  task.messages.push({ message, artifact, data: data === null ? null : (JSON.parse(data) as unknown) });
  taskOfMessage.set(message.id, task.id);
}

/** What a message does to the tasks of its thread, besides the default. */
export interface TaskEffect {
  opens?: boolean;
  /** The state that the sender reports with it. Default: completed. */
  state?: ReportedTaskState | undefined;
  /** Whether the caller changes the task itself. */
  none?: boolean;
}

/** Adds a message that replaces one of an open task to that task. @returns whether there is such a task */
function replaceInTask(call: Call, message: Message): boolean {
  const { state } = call;
  const { id, sequence, sender_id, replaces } = message;
  const task_id = state.taskOfMessage.get(replaces ?? '');
  const task = listOpen(state, message.thread_id).find((each) => each.id === task_id);
  if (!task) return false;
  const origin = { message_id: id, by: byCaller(call) };
  const { generation } = task;
  addTaskMessage(state, task, message);
  const isQuestion = task.message_id === replaces;
  if (isQuestion) Object.assign(task, { message_id: id, sequence });
  if (task.client_id === sender_id) moveTask(state, task, 'client_message', origin);
  if (isQuestion && task.generation === generation) recordChange(state, task, 'state', origin);
  return true;
}

/** Adds a message to the task that it belongs to, and moves that task. */
export function applyMessage(call: Call, thread: Thread, message: Message, effect: TaskEffect): void {
  if (effect.none || replaceInTask(call, message)) return;
  const { state } = call;
  const { sender_id, reply_to } = message;
  const replied_task_id = state.taskOfMessage.get(reply_to ?? '') ?? null;
  const about = { sender_id, replied_task_id, opens_task: effect.opens === true };
  const task = findTaskOf(about, listOpen(state, thread.id), thread.members.length === 2);
  if (!task) return;
  const origin = { message_id: message.id, by: byCaller(call) };
  const isAnswer = task.agent_id === sender_id;
  const { state: reported = 'completed' } = effect;
  const artifact = isAnswer && reported === 'completed';
  addTaskMessage(state, task, message, { artifact });
  if (artifact) recordChange(state, task, 'result', origin);
  moveTask(state, task, isAnswer ? { report: reported } : 'client_message', origin);
}

/** Ends the open tasks of a thread that the caller closes. */
export function endTasksOfThread(call: Call, thread_id: string): void {
  for (const task of listOpen(call.state, thread_id))
    moveTask(call.state, task, causeOfClosing(task, call.me.id), { by: byCaller(call) });
}

/** Ends the open tasks of a member that leaves a thread, or that the caller removes. */
export function endTasksOfMember(call: Call, thread_id: string, member_id: string): void {
  for (const task of listOpen(call.state, thread_id)) {
    const cause = causeOfLeaving(task, member_id, call.me.id);
    if (cause) moveTask(call.state, task, cause, { by: byCaller(call) });
  }
}

type Leased = Pick<InboxItem, 'task_id' | 'fencing_token'>;

/** Moves the tasks of claimed messages to `working`. */
export function startTasks(call: Call, claimed: readonly Leased[]): void {
  for (const [task, token] of tokensOf(call.state, claimed)) {
    if (nextTaskState(task.state, 'claim') === task.state) continue;
    task.lease_token = token;
    moveTask(call.state, task, 'claim', { by: byCaller(call) });
  }
}

/** Moves tasks whose leases have ended without an answer back to `submitted`. */
export function returnTasks(state: State, ended: readonly Leased[]): void {
  for (const [task, token] of tokensOf(state, ended))
    if (task.lease_token === token) moveTask(state, task, 'lease_end', { by: null });
}

/** The tasks of leased items, each with the token of its last lease. */
function tokensOf({ tasks }: State, items: readonly Leased[]): Map<Task, number> {
  return new Map(
    items.flatMap(({ task_id, fencing_token }) => {
      const task = tasks.get(task_id ?? '');
      return task ? [[task, fencing_token] as const] : [];
    }),
  );
}

/** Whether the task of an item is canceled. */
export const isOfCanceledTask = ({ tasks }: State, { task_id }: InboxItem): boolean =>
  tasks.get(task_id ?? '')?.state === 'canceled';

/** Cancels the open task that a message of the caller opened. */
export function cancelTaskOf(call: Call, { id, thread_id }: Message): void {
  const task = listOpen(call.state, thread_id).find(({ message_id }) => message_id === id);
  if (task) moveTask(call.state, task, 'cancel', { by: byCaller(call) });
}

/** Marks tasks as overdue, ends those whose time is over, and removes those that ended long ago. */
export function sweepTasks(state: State): void {
  const now = state.clock.now();
  for (const task of state.tasks.values()) {
    const isOpen = isOpenTask(task.state);
    if (isOpen && task.overdue_at === null && task.due_at !== null && task.due_at <= now) {
      task.overdue_at = now;
      recordChange(state, task, 'overdue', { by: null });
    } else if (task.expires_at <= now) {
      if (isOpen) moveTask(state, task, 'fail', { by: null });
      else state.tasks.delete(task.id);
    }
  }
}
