import { DomainError, wrongField } from '../../../packages/core/src/domain/errors.ts';
import { isId, newId } from '../../../packages/core/src/domain/ids.ts';
import { requireOpenTask } from '../../../packages/core/src/policies/tasks.ts';
import type { MessageRow } from '../../repositories/messages/messages.ts';
import type { TaskRow } from '../../repositories/tasks/task-row.ts';
import type { FoundThreadRow } from '../../repositories/threads/threads.ts';
import { findStartRefusal } from '../threads/threads.ts';
import { agentNotFound, parseAgentKey, requireAgents } from '../access.ts';
import { type ClientTask, requireClientTask, throwForAgent } from './tasks.ts';
import type { Work } from '../../work/unit-of-work.ts';
import { type MessageDraft, sendMessage } from '../messages/send.ts';
import { createTaskChanges } from '../tasks/change.ts';
import { lockOpenTask } from '../tasks/tasks.ts';
import { openTask } from '../tasks/open.ts';
import { isOtherInstallation, noteArrivals, requireInOrder } from '../remote/order.ts';
import { type PushTarget, putPushConfig, requirePushUrl, storePushConfig } from './push-configs.ts';

/** A message of a client, as it is stored. */
export interface ClientMessage extends Pick<MessageDraft, 'content' | 'content_type' | 'attachment_ids'> {
  /** The handle of the asked agent. */
  agent: string;
  /** As the client names the message. */
  message_id: string;
  task_id: string | undefined;
  /** A thread of the client and the agent. */
  context_id: string | undefined;
  /** As another installation names the thread. It counts only for the principal of an invitation. */
  conversation: string | undefined;
  /** The message of the same sender before it, as another installation names it. */
  after: string | undefined;
  accepted_output_modes: readonly string[];
  /** False: the message ends its task at once. */
  expects_reply: boolean;
  digest: Buffer;
  /** JSON text; null when a person has edited the text: the agent gets another one than the client has sent. */
  wire: string | null;
  /** Where the client wants the updates of the task. */
  push: PushTarget | undefined;
}

/** What a message became. */
export interface SentToTask {
  task_id: string;
  /** The task, if the message opened it. */
  opened: Omit<ClientTask, 'feed_number'> | null;
}

/**
 * Sends a message of the actor to an agent: in an open task, or as a new task in their thread or in a new one. A repeated message stores nothing.
 * @throws {DomainError} IDEMPOTENCY_MISMATCH, TASK_NOT_FOUND, INVALID_TRANSITION (the task has ended), VALIDATION_ERROR, and as `openTask`
 */
export async function sendClientMessage(work: Work, message: ClientMessage): Promise<SentToTask> {
  const { agent, digest, wire } = message;
  const client = { client_id: work.actor.agent_id, client_message_id: message.message_id };
  const name = { ...client, handle: parseAgentKey(agent) };
  // The second statement sees what was committed while the first one waited.
  const [, found] = await Promise.all([work.db.a2aMessages.lock(name), work.db.a2aMessages.find(name)]);
  if (!found) return throwForAgent(work, agent, agentNotFound());
  if (found.digest && !found.digest.equals(digest)) {
    throw new DomainError(
      'IDEMPOTENCY_MISMATCH',
      'You already sent a different message with this messageId. Use a new messageId.',
    );
  }
  if (found.digest) return { task_id: found.task_id, opened: null };
  const { agent_id } = found;
  if (message.push) requirePushUrl(work, message.push);
  const sent = await (message.task_id === undefined ? open : continueTask)(work, message);
  const { task_id, message_id, opened } = sent;
  work.changes.defer(
    work.db.a2aMessages.insert([{ ...client, agent_id, task_id, message_id, digest, wire }]),
  );
  if (isOtherInstallation(work.actor)) noteArrivals(work, [{ ...sent, key: message.message_id }]);
  if (message.push) {
    if (opened) work.changes.defer(storePushConfig(work, opened, message.push));
    else await putPushConfig(work, { agent, task_id }, message.push);
  }
  return { task_id, opened };
}

/**
 * Checks a message before its files are stored, without locks: the send checks again.
 * @returns whether it is new; false if it was sent before
 * @throws {DomainError} TASK_NOT_FOUND, INVALID_TRANSITION (the task has ended), and the refusals of a new thread with the agent
 */
export async function checkClientMessage(
  work: Work,
  {
    agent,
    message_id: client_message_id,
    task_id,
    context_id,
  }: Pick<ClientMessage, 'agent' | 'message_id' | 'task_id' | 'context_id'>,
): Promise<boolean> {
  const name = { client_id: work.actor.agent_id, client_message_id, handle: parseAgentKey(agent) };
  const found = await work.db.a2aMessages.find(name);
  if (found?.task_id) return false;
  if (task_id !== undefined) {
    requireOpenTask(await requireClientTask(work, { agent, task_id }));
    return true;
  }
  if (context_id !== undefined) {
    await requireAgents(work, [agent]);
    return true;
  }
  const refusal = await findStartRefusal(work, agent);
  if (refusal) throw refusal;
  return true;
}

/** The metadata that only the service writes: a sender cannot claim that its message came through A2A. */
export const toDraft = (
  { content, content_type, attachment_ids, message_id, expects_reply }: ClientMessage,
  task_id: string,
): Omit<MessageDraft, 'reply_to'> => ({
  content,
  content_type,
  attachment_ids,
  metadata: { a2a: { task_id, message_id }, ...(!expects_reply && { no_reply_expected: true }) },
});

async function open(work: Work, message: ClientMessage) {
  const { agent, accepted_output_modes } = message;
  const { context_id = await findConversation(work, message) } = message;
  const thread = context_id === undefined ? undefined : await requireContext(work, context_id, agent);
  if (context_id !== undefined) await requireInOrder(work, { thread_id: context_id, after: message.after });
  const id = newId('task');
  const { task, message: sent } = await openTask(work, {
    id,
    thread,
    asked: agent,
    subject: null,
    reason: undefined,
    draft: { ...toDraft(message, id), reply_to: null },
    due_in_seconds: undefined,
    accepted_output_modes,
    isEnded: !message.expects_reply,
  });
  if (!task) throw new Error('a question to a named agent has a task');
  if (context_id === undefined && hasConversation(work, message))
    await work.db.remoteThreads.addConversation(work.actor.agent_id, message.conversation, sent.thread_id);
  const opened = toOpened(task, sent, message);
  return { task_id: id, message_id: sent.id, thread_id: sent.thread_id, opened };
}

/** A new task with its message. */
export function toOpened(
  task: TaskRow,
  sent: MessageRow,
  { message_id: client_message_id, wire }: ClientMessage,
): NonNullable<SentToTask['opened']> {
  const stored = wire === null ? null : JSON.parse(wire);
  const shown = { ...sent, artifact: false, data: null, client_message_id, wire: stored };
  return { ...task, delivery: 'stored', status_message_id: null, messages: [shown] };
}

type InConversation = Pick<ClientMessage, 'conversation'>;

/** Other clients have no conversations, so none of them can name one. */
function hasConversation<Message extends InConversation>(
  { actor }: Work,
  message: Message,
): message is Message & { conversation: string } {
  return message.conversation !== undefined && isOtherInstallation(actor);
}

/** Returns the thread of a conversation with another installation; undefined if there is none yet, and until this transaction ends. */
async function findConversation(
  work: Work,
  message: InConversation & { agent: string },
): Promise<string | undefined> {
  if (!hasConversation(work, message)) return undefined;
  const { agent_id: client_id } = work.actor;
  const { conversation, agent } = message;
  await work.db.a2aMessages.lock({
    client_id,
    client_message_id: `conversation ${conversation}`,
    handle: agent,
  });
  return work.db.remoteThreads.findConversation(client_id, conversation);
}

/** Returns the thread, locked. @throws {DomainError} VALIDATION_ERROR unless its members are the actor and the agent */
async function requireContext(work: Work, context_id: string, agent: string): Promise<FoundThreadRow> {
  const found = isId('thread', context_id)
    ? await work.db.threads.lockForMember(context_id, work.actor.agent_id)
    : undefined;
  const handle = parseAgentKey(agent);
  const isOfBoth = found?.members.some(({ canonical_handle }) => canonical_handle === handle) === true;
  if (isOfBoth && found.members.length === 2) return found;
  const problem = 'is not a thread of you and this agent; leave it out to start one';
  return throwForAgent(work, agent, wrongField('message.contextId', problem));
}

async function continueTask(work: Work, message: ClientMessage) {
  const { agent, task_id = '', context_id } = message;
  const found = await requireClientTask(work, { agent, task_id });
  if (context_id !== undefined && context_id !== found.thread_id)
    throw wrongField('message.contextId', 'is not the context of this task; leave it out');
  const task = await lockOpenTask(work, found);
  await requireInOrder(work, { thread_id: task.thread_id, after: message.after });
  // The asking message may have been removed, so that no reply can name it.
  const effect = message.expects_reply ? { task_id: task.id } : { none: true };
  const draft = toDraft(message, task.id);
  const sent = await sendMessage(work, { ...draft, thread_id: task.thread_id, reply_to: null, task: effect });
  if (!message.expects_reply) {
    const changes = createTaskChanges();
    changes.addMessage(task.id, sent);
    changes.write(work);
  }
  return { task_id, message_id: sent.id, thread_id: sent.thread_id, opened: null };
}
