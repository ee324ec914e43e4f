import {
  mailboxExtension,
  type ReceivedMessage,
  type ReceivedPart,
} from '../../../packages/core/src/domain/a2a.ts';
import type { ConversationMarks } from '../../../packages/core/src/domain/remote.ts';
import {
  jsonToMarkdown,
  type TaskChange,
  type TaskDelivery,
  type TaskState,
} from '../../../packages/core/src/domain/tasks.ts';
import type { AttachmentRecord } from '../../../packages/core/src/records/attachment.ts';
import type { MessageColumns } from '../../../packages/core/src/records/message.ts';
import { toWireState } from './states.ts';

/** A message of a task, from rows that may have more columns. */
export interface PresentedMessage extends Pick<
  MessageColumns,
  'id' | 'sender_id' | 'content' | 'content_type' | 'attachments' | 'withdrawn_at'
> {
  artifact: boolean;
  /** JSON of the agent; null without. */
  data: unknown;
  /** Of a message that came through A2A. */
  client_message_id: string | null;
  wire: ReceivedMessage | null;
}

/** The message of the same sender before each one, by id. Only other installations see it. */
export type Predecessors = ReadonlyMap<string, string | null>;

export interface PresentedTask {
  id: string;
  thread_id: string;
  client_id: string;
  agent_id: string;
  state: TaskState;
  generation: number;
  updated_at: number;
  expires_at: number;
  /** Null only if `TaskForm` has no mailbox. */
  delivery: TaskDelivery | null;
  /** The message of the last change of the state; null without one. */
  status_message_id: string | null;
}

export interface PresentedUpdate {
  generation: number;
  change: TaskChange;
  state: TaskState;
  /** The message that it names, if it is still stored. */
  message: PresentedMessage | null;
  created_at: number;
}

/** How tasks are shown to one client. */
export interface TaskForm {
  /** Returns the address of a file. It needs no token. */
  fileUrl(attachmentId: string): string;
  /** Whether the client named the mailbox extension. */
  hasMailbox: boolean;
  predecessors?: Predecessors | undefined;
  marks?: ConversationMarks | undefined;
}

/** What to show of a task besides its status. */
export interface TaskParts {
  /** Oldest first. */
  messages: readonly PresentedMessage[];
  hasArtifacts: boolean;
  /** How many of the last messages the history has. */
  historyLength: number;
}

/** The states whose message is the status message. In `completed` it is an artifact only, because clients join both. */
const speakingStates: ReadonlySet<TaskState> = new Set([
  'working',
  'input_required',
  'auth_required',
  'failed',
  'rejected',
]);

/** Returns a task (A2A 1.0, section 4.1.1). */
export function presentTask(
  task: PresentedTask,
  { messages, hasArtifacts, historyLength }: TaskParts,
  form: TaskForm,
) {
  const artifacts = hasArtifacts ? messages.filter(({ artifact }) => artifact) : [];
  const said = messages.find(({ id }) => id === task.status_message_id);
  const history = historyLength > 0 ? messages.slice(-historyLength) : [];
  return {
    id: task.id,
    contextId: task.thread_id,
    status: presentStatus(task, task, said, form),
    ...(artifacts.length > 0 && { artifacts: artifacts.map((message) => presentArtifact(message, form)) }),
    ...(history.length > 0 && { history: history.map((message) => presentMessage(message, task, form)) }),
    ...presentMailbox(task, task.generation, form),
  };
}

/** Returns an update of a task as an event of a stream (section 4.2). A result is an artifact; every other change is a status. */
export function presentUpdate(task: PresentedTask, update: PresentedUpdate, form: TaskForm): object {
  const about = { taskId: task.id, contextId: task.thread_id };
  const metadata = presentMailbox(task, update.generation, form);
  const { message } = update;
  if (update.change === 'result' && message)
    return {
      artifactUpdate: { ...about, artifact: presentArtifact(message, form), lastChunk: true, ...metadata },
    };
  const status = presentStatus(task, { state: update.state, updated_at: update.created_at }, message, form);
  return { statusUpdate: { ...about, status, ...metadata } };
}

function presentStatus(
  task: PresentedTask,
  { state, updated_at }: Pick<PresentedTask, 'state' | 'updated_at'>,
  message: PresentedMessage | null | undefined,
  form: TaskForm,
) {
  const isOfAgent = message?.sender_id === task.agent_id;
  return {
    state: toWireState(state),
    ...(message &&
      isOfAgent &&
      speakingStates.has(state) && { message: presentMessage(message, task, form) }),
    timestamp: new Date(updated_at).toISOString(),
  };
}

function presentMailbox(task: PresentedTask, generation: number, { hasMailbox, marks }: TaskForm): object {
  if (!hasMailbox) return {};
  const { expires_at, delivery } = task;
  const mailbox = {
    generation,
    expires_at: new Date(expires_at).toISOString(),
    delivery,
    ...(marks && { marks }),
  };
  return { metadata: { [mailboxExtension]: mailbox } };
}

function presentMessage(message: PresentedMessage, task: PresentedTask, form: TaskForm): object {
  const { id, sender_id, client_message_id, wire } = message;
  const about = {
    messageId: client_message_id ?? id,
    contextId: task.thread_id,
    taskId: task.id,
    role: sender_id === task.client_id ? 'ROLE_USER' : 'ROLE_AGENT',
  };
  if (!wire) return { ...about, parts: presentParts(message, form), ...presentPlace(message, form) };
  const { metadata, extensions, referenceTaskIds } = wire;
  return {
    ...about,
    parts: presentWireParts(wire.parts, message.attachments, form),
    ...(metadata && { metadata }),
    ...(extensions && { extensions }),
    ...(referenceTaskIds && { referenceTaskIds }),
  };
}

/** The parts that a client sent, with the address of each file instead of its bytes. */
function presentWireParts(
  parts: readonly ReceivedPart[],
  attachments: readonly AttachmentRecord[],
  form: TaskForm,
): object[] {
  const files = [...attachments];
  return parts.map(({ raw, ...part }) => {
    const file = raw === undefined ? undefined : files.shift();
    if (raw === undefined) return part;
    return file
      ? presentFile(file, form)
      : { text: `${part.filename || 'The file'} is no longer available.` };
  });
}

function presentArtifact(message: PresentedMessage, form: TaskForm): object {
  return { artifactId: message.id, parts: presentParts(message, form), ...presentPlace(message, form) };
}

/** Clients of A2A know no withdrawn messages, so the text says it. */
export const withdrawnPart = { text: 'This message was withdrawn by its sender.', mediaType: 'text/plain' };

function presentPlace({ id }: PresentedMessage, { predecessors }: TaskForm): object {
  const after = predecessors?.get(id);
  return after ? { metadata: { [mailboxExtension]: { after } } } : {};
}

function presentParts(
  { content, content_type, attachments, data, withdrawn_at }: PresentedMessage,
  form: TaskForm,
): object[] {
  if (withdrawn_at) return [withdrawnPart];
  const files = attachments.map((file) => presentFile(file, form));
  const json = data === null || data === undefined ? [] : [{ data, mediaType: 'application/json' }];
  // The text of a result that is only JSON says the same again.
  const isJson = json.length > 0 && content === jsonToMarkdown(data);
  const hasText = !isJson && (content !== '' || files.length + json.length === 0);
  const mediaType = content_type === 'markdown' ? 'text/markdown' : 'text/plain';
  return [...(hasText ? [{ text: content, mediaType }] : []), ...json, ...files];
}

function presentFile(
  { id, filename, content_type, scan_status }: AttachmentRecord,
  { fileUrl }: TaskForm,
): object {
  if (scan_status === 'infected')
    return { text: `The file ${filename} was found unsafe and was removed.`, mediaType: 'text/plain' };
  return { url: fileUrl(id), filename, mediaType: content_type };
}
