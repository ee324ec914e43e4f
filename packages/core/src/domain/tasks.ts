/** The states of a task while it is open: those of A2A, in lower case (A2A 1.0, TaskState). */
export const openTaskStates = ['submitted', 'working', 'input_required', 'auth_required'] as const;

/** The states in which a task ends. */
export const endedTaskStates = ['completed', 'failed', 'canceled', 'rejected'] as const;

export const taskStates = [...openTaskStates, ...endedTaskStates] as const;

export type OpenTaskState = (typeof openTaskStates)[number];
export type TaskState = (typeof taskStates)[number];

/** The states that the asked agent may report. */
export const reportedTaskStates = [
  'working',
  'input_required',
  'auth_required',
  'completed',
  'failed',
  'rejected',
] as const;

export type ReportedTaskState = (typeof reportedTaskStates)[number];

/** What one update of a task tells: its opening, a new state, a result, or that its due time has passed. */
export const taskChanges = ['created', 'state', 'result', 'overdue'] as const;

export type TaskChange = (typeof taskChanges)[number];

/** Whether the asking message is stored, delivered to the asked agent, read or handled by it. */
export const taskDeliveries = ['stored', 'delivered', 'read', 'handled'] as const;

export type TaskDelivery = (typeof taskDeliveries)[number];

/** With the states of a message to an agent of another system that has not accepted it. */
export const shownDeliveries = ['sending', 'undeliverable', 'unknown', ...taskDeliveries] as const;

export type ShownDelivery = (typeof shownDeliveries)[number];

/** A fact that can change the state of a task. */
export type TaskCause =
  /** An instance of the asked agent leases a message of the task. */
  | 'claim'
  /** The lease that made it `working` was released, lost, or has expired. */
  | 'lease_end'
  /** The client writes a message of the task. */
  | 'client_message'
  /** The client cancels, closes the thread, or leaves it. */
  | 'cancel'
  /** No answer can follow: the agent is gone, the thread is closed by another member, or the time is over. */
  | 'fail'
  /** The asked agent closes the thread, or leaves it. */
  | 'reject'
  | { report: ReportedTaskState };

const waitsForClient: ReadonlySet<TaskState> = new Set(['input_required', 'auth_required']);

/** Whether a task can still change. */
export function isOpenTask(state: TaskState): state is OpenTaskState {
  return openTaskStates.some((open) => open === state);
}

/** Whether a task waits for its client. */
export const isWaitingForClient = (state: TaskState): boolean => waitsForClient.has(state);

const ends = { cancel: 'canceled', fail: 'failed', reject: 'rejected' } as const;

/** Whether a client that waits for a task gets it now: it has ended, or waits for the client. */
export const isSettledTask = (state: TaskState): boolean => !isOpenTask(state) || isWaitingForClient(state);

/** The state after a cause; the same state if it changes nothing. An ended task never changes. */
export function nextTaskState(state: TaskState, cause: TaskCause): TaskState {
  if (!isOpenTask(state)) return state;
  if (typeof cause === 'object') return cause.report;
  if (cause === 'claim') return state === 'submitted' ? 'working' : state;
  if (cause === 'lease_end') return state === 'working' ? 'submitted' : state;
  if (cause === 'client_message') return isWaitingForClient(state) ? 'working' : state;
  return ends[cause];
}

/** The part of an open task that decides which message belongs to it. */
export interface TaskParties {
  id: string;
  client_id: string;
  agent_id: string;
  state: TaskState;
}

/** A message that may belong to a task. */
export interface TaskMessage {
  sender_id: string;
  /** The task of the message that it replies to, if that is one of a task. */
  replied_task_id: string | null;
  /** Whether it opens a task of its own. Then it completes another one only by an explicit reply. */
  opens_task: boolean;
}

/**
 * Returns the open task that a message of a thread belongs to, if any. A reply belongs to the task that it replies to. In a thread of two, any
 * other message of the asked agent belongs to the oldest open task, and one of the client to the oldest that waits for it.
 * @param open the open tasks of the thread, oldest first.
 */
export function findTaskOf<Task extends TaskParties>(
  { sender_id, replied_task_id, opens_task }: TaskMessage,
  open: readonly Task[],
  isThreadOfTwo: boolean,
): Task | undefined {
  const own = open.filter((task) => task.agent_id === sender_id || task.client_id === sender_id);
  if (replied_task_id !== null) return own.find(({ id }) => id === replied_task_id);
  if (!isThreadOfTwo || opens_task) return undefined;
  return own.find(({ agent_id, state }) => agent_id === sender_id || isWaitingForClient(state));
}

/** The time that a client may set for the answer, in seconds. The maximum is TASK_DAYS. */
export const minDueSeconds = 60;

/** A task ends without a change for so long, and is removed so long after its end, in milliseconds. */
export const taskLifeMs = (days: number): number => days * 24 * 60 * 60 * 1000;

/** The maximum size of the data of an update, as JSON. */
export const maxTaskDataBytes = 16_384;

/** At most this many tasks of one client with one agent are open at a time. */
export const maxOpenTasks = 100;

/** The Markdown of JSON that is a message, or the part of one. */
export const jsonToMarkdown = (data: unknown): string =>
  `\`\`\`json\n${JSON.stringify(data, null, 2)}\n\`\`\``;
