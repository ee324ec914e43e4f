import { DomainError, wrongField } from '../../../packages/core/src/domain/errors.ts';
import { newId } from '../../../packages/core/src/domain/ids.ts';
import { requireOpenTask, requireRoomForTask } from '../../../packages/core/src/policies/tasks.ts';
import { createThread, findMembers, type NewMembers } from '../threads/threads.ts';
import { agentNotFound, parseAgentKey, requireAgents } from '../access.ts';
import { requireClientTask, throwForAgent } from './tasks.ts';
import type { AskedAgent } from '../../repositories/a2a/messages.ts';
import type { BatchResult, Work } from '../../work/unit-of-work.ts';
import { sendMessage } from '../messages/send.ts';
import { createTaskChanges } from '../tasks/change.ts';
import { lockOpenTask } from '../tasks/tasks.ts';
import { isOtherInstallation, noteArrivals, requireInOrder } from '../remote/order.ts';
import { findWrongUrl, putPushConfig } from './push-configs.ts';
import {
  type ClientMessage,
  sendClientMessages,
  sendPlaced,
  type SentToTask,
  toDraft,
} from './send-batch.ts';

/**
 * Sends a message of the actor to an agent: in an open task, or as a new task in their thread or in a new one. A repeated message stores nothing.
 * @throws {DomainError} IDEMPOTENCY_MISMATCH, TASK_NOT_FOUND, INVALID_TRANSITION (the task has ended), VALIDATION_ERROR, and as `openTask`
 */
export async function sendClientMessage(work: Work, message: ClientMessage): Promise<SentToTask> {
  const { agent, digest, wire } = message;
  const client = { client_id: work.actor.agent_id, client_message_id: message.message_id };
  const name = { ...client, handle: parseAgentKey(agent) };
  const isStart = message.task_id === undefined && message.context_id === undefined;
  // The other statements see what was committed while the first one waited.
  const [, found, members] = await Promise.all([
    work.db.a2aMessages.lock(name),
    work.db.a2aMessages.find(name),
    isStart ? findMembers(work, agent) : undefined,
  ]);
  if (!found) return throwForAgent(work, agent, agentNotFound());
  if (found.digest && !found.digest.equals(digest)) {
    throw new DomainError(
      'IDEMPOTENCY_MISMATCH',
      'You already sent a different message with this messageId. Use a new messageId.',
    );
  }
  if (found.digest) return { task_id: found.task_id, opened: null };
  const { agent_id } = found;
  const wrongUrl = message.push && findWrongUrl(work, message.push);
  if (wrongUrl) return throwForAgent(work, agent, wrongUrl);
  if (members) return start(work, message, { ...found, members });
  if (message.task_id === undefined) return open(work, message);
  const { task_id, message_id, thread_id } = await continueTask(work, message);
  work.changes.defer(
    work.db.a2aMessages.insert([{ ...client, agent_id, task_id, message_id, digest, wire }]),
  );
  if (isOtherInstallation(work.actor)) noteArrivals(work, [{ thread_id, key: message.message_id }]);
  if (message.push) await putPushConfig(work, { agent, task_id }, message.push);
  return { task_id, opened: null };
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
  const members = await findMembers(work, agent);
  if (members instanceof DomainError) throw members;
  return true;
}

/** Sends a message in the thread that it names. */
async function open(work: Work, message: ClientMessage): Promise<SentToTask> {
  const sends = [{ work, message }];
  const [opened = null] = await sendClientMessages(sends, { wait: true, mustRead: true });
  if (opened) return requireOpened(opened);
  const problem = 'is not a thread of you and this agent; leave it out to start one';
  return throwForAgent(work, message.agent, wrongField('message.contextId', problem));
}

/** Sends a message in the thread of the conversation that another installation names, or else in a new one. */
async function start(
  work: Work,
  message: ClientMessage,
  { members, ...asked }: AskedAgent & { members: NewMembers | DomainError },
): Promise<SentToTask> {
  const { agent, conversation, after } = message;
  const { agent_id: client_id } = work.actor;
  // Other clients have no conversations, so none of them can name one.
  const isNamed = conversation !== undefined && isOtherInstallation(work.actor);
  if (isNamed) {
    const name = { client_id, client_message_id: `conversation ${conversation}`, handle: agent };
    await work.db.a2aMessages.lock(name);
    const context_id = await work.db.remoteThreads.findConversation(client_id, conversation);
    if (context_id !== undefined) return open(work, { ...message, context_id });
  }
  if (members instanceof DomainError) throw members;
  const about = { participants: [agent], subject: null, metadata: {}, initial_message: null };
  const { thread } = await createThread(work, about, members);
  const { id: thread_id } = thread;
  if (isNamed) work.changes.defer(work.db.remoteThreads.addConversation(client_id, conversation, thread_id));
  await requireInOrder(work, { thread_id, after });
  requireRoomForTask(asked.open_tasks);
  const sends = [{ work, message, id: newId('task'), place: { ...asked, thread_id } }];
  const opened = await sendPlaced(sends, { wait: true, mustRead: true });
  return requireOpened(opened.get(message) ?? null);
}

function requireOpened(opened: BatchResult<NonNullable<SentToTask['opened']>>): SentToTask {
  if (opened instanceof DomainError) throw opened;
  if (!opened) throw new Error('a send that waits for locks has a result');
  return { task_id: opened.id, opened };
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
  return { task_id, message_id: sent.id, thread_id: sent.thread_id };
}
