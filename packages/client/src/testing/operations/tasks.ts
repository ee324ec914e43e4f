import { requireLease } from '../core/inbox.ts';
import type { z } from 'zod';
import { wrongField } from '../../../../core/src/domain/errors.ts';
import { isOpenTask } from '../../../../core/src/domain/tasks.ts';
import { toDraft } from '../../../../core/src/inputs/messages.ts';
import {
  cancelTaskInput,
  createTaskInput,
  getTaskInput,
  listTasksInput,
  toTaskReport,
  updateTaskInput,
} from '../../../../core/src/inputs/tasks.ts';
import { metadataOf } from '../../../../core/src/inputs/threads.ts';
import {
  createTask,
  findAskedMember,
  requireAskedAgent,
  requireOpenTask,
  requirePossibleDue,
  requireRoomForTask,
  requireTaskClient,
  taskNotFound,
} from '../../../../core/src/policies/tasks.ts';
import {
  presentTask as presentColumns,
  presentTaskMessage,
  type TaskRecord,
} from '../../../../core/src/records/task.ts';
import { lastNumber, waitForEvents } from '../core/feed.ts';
import type { Message, Task } from '../core/records.ts';
import { type Call, defineHandler, requireValidToken, type State } from '../core/state.ts';
import { addTaskMessage, byCaller, deliveryOf, moveTask, recordChange, taskDays } from '../core/tasks.ts';
import { isOnline, toAgentId } from './agents.ts';
import { appendMessage, type Draft, prepareMessage } from './messages.ts';
import { readPage } from '../core/pages.ts';
import { othersOf, requireThread } from './thread-records.ts';
import { createThread } from './threads.ts';

const maxMessages = 100;

/** A task as one of its two agents sees it. */
export const presentTask = (call: Call, task: Task): TaskRecord =>
  presentColumns({
    ...task,
    delivery: deliveryOf(call.state, task),
    agent_last_seen_at: canSeePresence(call, task) ? findLastSeen(call.state, task.agent_id) : null,
  });

function canSeePresence({ state, me }: Call, { agent_id, thread_id }: Task): boolean {
  const { members = [] } = state.threads.get(thread_id) ?? {};
  const isMember = (id: string) => members.some((member) => member.id === id);
  return (
    me.id === agent_id ||
    state.agents.get(agent_id)?.visibility !== 'private' ||
    (isMember(me.id) && isMember(agent_id))
  );
}

const findLastSeen = (state: State, id: string): number | null =>
  isOnline(state, { id }) ? state.clock.now() : (state.lastSeen.get(id) ?? null);

function presentWithMessages(call: Call, task: Task): TaskRecord & { messages: object[] } {
  const messages = task.messages
    .slice(-maxMessages)
    .map(({ message, ...fields }) => presentTaskMessage({ ...message, ...fields }));
  return { ...presentTask(call, task), messages };
}

/** @throws {DomainError} TASK_NOT_FOUND, the same for an absent task and for one of others */
export function requireTask({ state, me }: Call, id: string): Task {
  const task = state.tasks.get(id);
  if (task && [task.client_id, task.agent_id].includes(me.id)) return task;
  throw taskNotFound();
}

export interface Question {
  /** Undefined: a new thread with the asked agent. */
  thread_id: string | undefined;
  /** The asked agent. Undefined: the other member of a thread of two. */
  asked: string | undefined;
  subject: string | null;
  reason: string | undefined;
  draft: Draft;
  due_in_seconds: number | undefined;
  accepted_output_modes: readonly string[];
}

/** The member of an existing thread that is asked, if it is known. */
const findAsked = (call: Call, thread_id: string, ref: string | undefined) =>
  findAskedMember(othersOf(call, requireThread(call, thread_id)), ref, (text) => toAgentId(call.state, text));

/** Sends a message that asks, in a thread or in a new one, and opens its task. The task is null in a group, unless a member is named. */
export function openTask(call: Call, question: Question): { message: Message; task: Task | null } {
  const { thread_id, asked, subject, reason, draft, due_in_seconds } = question;
  requirePossibleDue(due_in_seconds, taskDays);
  if (thread_id !== undefined) {
    const thread = requireThread(call, thread_id);
    const agent = findAsked(call, thread_id, asked);
    const prepared = prepareMessage(call, thread, draft);
    if (agent) requireRoom(call, agent.id);
    const message = appendMessage(call, thread, prepared, { opens: agent !== undefined });
    return { message, task: agent ? insertTask(call, message, agent, question) : null };
  }
  requireRoom(call, toAgentId(call.state, asked ?? ''));
  const { thread, message } = createThread(call, {
    participants: [asked ?? ''],
    subject,
    metadata: metadataOf({ reason }),
    initial_message: draft,
  });
  const [agent] = othersOf(call, thread);
  if (!message || !agent) throw new Error('a thread with a first message has that message');
  return { message, task: insertTask(call, message, agent, question) };
}

/** @throws {DomainError} RATE_LIMITED */
function requireRoom({ state, me }: Call, agent_id: string): void {
  const open = [...state.tasks.values()].filter(
    (task) => task.client_id === me.id && task.agent_id === agent_id && isOpenTask(task.state),
  );
  requireRoomForTask(open.length);
}

function insertTask(
  call: Call,
  message: Message,
  agent: Parameters<typeof createTask>[0]['agent'],
  { due_in_seconds, accepted_output_modes }: Question,
): Task {
  const { state, me: client } = call;
  const fields = { id: state.newId('task'), message, client, agent, due_in_seconds, accepted_output_modes };
  const task: Task = { ...createTask(fields, taskDays), ended_delivery: null, messages: [], activity: 0 };
  state.tasks.set(task.id, task);
  addTaskMessage(state, task, message);
  recordChange(state, task, 'created', { message_id: message.id, by: byCaller(call) });
  return task;
}

function updateTask(call: Call, input: z.output<typeof updateTaskInput>): Task {
  const { state, me } = call;
  const { task_id, message: draft, data, artifact, lease_id, ...report } = toTaskReport(input);
  const task = requireTask(call, task_id);
  requireAskedAgent(task, me.id);
  requireOpenTask(task);
  const thread = draft && requireThread(call, task.thread_id);
  const prepared =
    thread && prepareMessage(call, thread, { ...draft, reply_to: task.message_id, metadata: {} });
  if (lease_id !== undefined) requireLease(call, lease_id);
  const sent = prepared && appendMessage(call, thread, prepared, { none: true });
  const origin = { by: byCaller(call), ...(sent && { message_id: sent.id }) };
  if (sent) addTaskMessage(state, task, sent, { artifact, data });
  if (sent && artifact) recordChange(state, task, 'result', origin);
  moveTask(state, task, { report: report.state }, origin);
  return task;
}

export const taskHandlers = {
  create_task: defineHandler(createTaskInput, (call, input) => {
    const {
      thread_id,
      with_handle: asked,
      subject,
      reason,
      due_in_seconds,
      accepted_output_modes,
      ...fields
    } = input;
    if (thread_id !== undefined && !findAsked(call, thread_id, asked))
      throw wrongField('with_handle', 'is required in a group: it names the member that is asked');
    const draft = toDraft({ reason, ...fields });
    const about = { thread_id, asked, subject: subject || null, reason, draft };
    const { task } = openTask(call, { ...about, due_in_seconds, accepted_output_modes });
    if (!task) throw new Error('a question to a named member opens a task');
    return presentWithMessages(call, task);
  }),
  list_tasks: defineHandler(listTasksInput, (call, { limit, cursor, ...filter }) => {
    const { state, me } = call;
    const { role, state: wanted, thread_id, overdue = false } = filter;
    const isListed = (task: Task) =>
      ((role !== 'asking' && task.agent_id === me.id) || (role !== 'asked' && task.client_id === me.id)) &&
      (wanted === undefined || task.state === wanted || (wanted === 'open' && isOpenTask(task.state))) &&
      (thread_id === undefined || task.thread_id === thread_id) &&
      (!overdue || (isOpenTask(task.state) && task.overdue_at !== null));
    const list = () => [...state.tasks.values()].filter(isListed).sort((a, b) => b.activity - a.activity);
    const { rows, next_cursor } = readPage(call, { limit, cursor }, ['tasks', filter], list);
    return { tasks: rows.map((task) => presentTask(call, task)), next_cursor };
  }),
  get_task: defineHandler(getTaskInput, async (call, { task_id, after_generation = 0, wait_seconds }) => {
    const { state, me, token, signal } = call;
    const task = requireTask(call, task_id);
    const deadline = Date.now() + wait_seconds * 1_000;
    while (task.generation <= after_generation && Date.now() < deadline && !signal.aborted) {
      await waitForEvents(me, lastNumber(me), deadline - Date.now(), signal);
      requireValidToken(state, token);
    }
    return presentWithMessages(call, task);
  }),
  update_task: defineHandler(updateTaskInput, (call, input) => presentTask(call, updateTask(call, input))),
  cancel_task: defineHandler(cancelTaskInput, (call, { task_id }) => {
    const { state, me } = call;
    const task = requireTask(call, task_id);
    requireTaskClient(task, me.id);
    if (task.state !== 'canceled') requireOpenTask(task);
    moveTask(state, task, 'cancel', { by: byCaller(call) });
    return presentTask(call, task);
  }),
};
