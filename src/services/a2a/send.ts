import { DomainError, wrongField } from '../../../packages/core/src/domain/errors.ts';
import { isId, newId } from '../../../packages/core/src/domain/ids.ts';
import { requireOpenTask } from '../../../packages/core/src/policies/tasks.ts';
import { findStartRefusal } from '../threads/threads.ts';
import { requireClientTask } from './tasks.ts';
import type { Work } from '../../work/unit-of-work.ts';
import { type MessageDraft, sendMessage } from '../messages/send.ts';
import { addTaskMessage, moveTask } from '../tasks/change.ts';
import { lockOpenTask } from '../tasks/tasks.ts';
import { openTask } from '../tasks/open.ts';
import { type PushTarget, putPushConfig } from './push-configs.ts';

/** A message of a client, as it is stored. */
export interface ClientMessage extends Pick<MessageDraft, 'content' | 'content_type' | 'attachment_ids'> {
  /** The asked agent. */
  agent_id: string;
  /** As the client names the message. */
  message_id: string;
  task_id: string | undefined;
  /** A thread of the client and the agent. */
  context_id: string | undefined;
  accepted_output_modes: readonly string[];
  /** False: the message ends its task at once. */
  expects_reply: boolean;
  digest: Buffer;
  /** JSON text. */
  wire: string;
  /** Where the client wants the updates of the task. */
  push: PushTarget | undefined;
}

/**
 * Sends a message of the actor to an agent: in an open task, or as a new task in their thread or in a new one. A repeated message stores nothing.
 * @returns the id of its task
 * @throws {DomainError} IDEMPOTENCY_MISMATCH, TASK_NOT_FOUND, INVALID_TRANSITION (the task has ended), VALIDATION_ERROR, and as `openTask`
 */
export async function sendClientMessage(work: Work, message: ClientMessage): Promise<string> {
  const { agent_id, digest, wire } = message;
  const key = { client_id: work.actor.agent_id, agent_id, client_message_id: message.message_id };
  await work.db.a2aMessages.lock(key);
  const earlier = await work.db.a2aMessages.find(key);
  if (earlier && !earlier.digest.equals(digest)) {
    throw new DomainError(
      'IDEMPOTENCY_MISMATCH',
      'You sent another message with this messageId. Use a new one.',
    );
  }
  if (earlier) return earlier.task_id;
  const { task_id, message_id } = await (message.task_id === undefined ? open : continueTask)(work, message);
  work.changes.defer(work.db.a2aMessages.insert({ ...key, task_id, message_id, digest, wire }));
  if (message.push) await putPushConfig(work, { agent_id, task_id }, message.push);
  return task_id;
}

/**
 * Checks a message before its files are stored, without locks: the send checks again.
 * @returns whether it is new; false if it was sent before
 * @throws {DomainError} TASK_NOT_FOUND, INVALID_TRANSITION (the task has ended), and the refusals of a new thread with the agent
 */
export async function checkClientMessage(
  work: Work,
  {
    agent_id,
    message_id,
    task_id,
    context_id,
  }: Pick<ClientMessage, 'agent_id' | 'message_id' | 'task_id' | 'context_id'>,
): Promise<boolean> {
  const sides = { client_id: work.actor.agent_id, agent_id };
  if (await work.db.a2aMessages.find({ ...sides, client_message_id: message_id })) return false;
  if (task_id !== undefined) {
    requireOpenTask(await requireClientTask(work, { agent_id, task_id }));
    return true;
  }
  if (context_id !== undefined) return true;
  const refusal = await findStartRefusal(work, agent_id);
  if (refusal) throw refusal;
  return true;
}

/** The metadata that only the service writes: a sender cannot claim that its message came through A2A. */
const toDraft = (
  { content, content_type, attachment_ids, message_id, expects_reply }: ClientMessage,
  task_id: string,
): Omit<MessageDraft, 'reply_to'> => ({
  content,
  content_type,
  attachment_ids,
  metadata: { a2a: { task_id, message_id }, ...(!expects_reply && { no_reply_expected: true }) },
});

async function open(work: Work, message: ClientMessage) {
  const { agent_id, context_id, accepted_output_modes } = message;
  if (context_id !== undefined) await requireContext(work, context_id, agent_id);
  const id = newId('task');
  const { task, message: sent } = await openTask(work, {
    id,
    thread_id: context_id,
    asked: agent_id,
    subject: null,
    reason: undefined,
    draft: { ...toDraft(message, id), reply_to: null },
    due_in_seconds: undefined,
    accepted_output_modes,
  });
  if (!task) throw new Error('a question to a named agent has a task');
  if (!message.expects_reply) moveTask(work, task, { report: 'completed' }, { by: null });
  return { task_id: id, message_id: sent.id };
}

/** Locks the thread. @throws {DomainError} VALIDATION_ERROR unless its members are the actor and the agent */
async function requireContext(work: Work, context_id: string, agent_id: string): Promise<void> {
  const found = isId('thread', context_id)
    ? await work.db.threads.lockForMember(context_id, work.actor.agent_id)
    : undefined;
  if (found?.members.length === 2 && found.members.some(({ id }) => id === agent_id)) return;
  throw wrongField(
    'message.contextId',
    'is no conversation of you and this agent; leave it out to begin one',
  );
}

async function continueTask(work: Work, message: ClientMessage) {
  const { agent_id, task_id = '', context_id } = message;
  const found = await requireClientTask(work, { agent_id, task_id });
  if (context_id !== undefined && context_id !== found.thread_id)
    throw wrongField('message.contextId', 'is not the context of this task; leave it out');
  const task = await lockOpenTask(work, found);
  // The asking message may have been removed, so that no reply can name it.
  const effect = message.expects_reply ? { task_id: task.id } : { none: true };
  const draft = toDraft(message, task.id);
  const sent = await sendMessage(work, { ...draft, thread_id: task.thread_id, reply_to: null, task: effect });
  if (!message.expects_reply) addTaskMessage(work, task.id, sent);
  return { task_id, message_id: sent.id };
}
