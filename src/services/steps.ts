import { DomainError } from '../domain/errors.ts';
import { newId } from '../domain/ids.ts';
import type { Work } from '../unit-of-work.ts';

/** A message as its sender writes it. */
export interface MessageDraft {
  content: string;
  content_type: 'text' | 'markdown';
  attachment_ids: readonly string[];
  reply_to: string | null;
  metadata: Record<string, unknown>;
}

/**
 * Appends a message to a thread that the unit of work holds, and tells every member. A step of more than one use case.
 * @returns the row, with its place in the thread.
 * @throws {DomainError} ATTACHMENT_NOT_FOUND, MESSAGE_NOT_FOUND (reply_to)
 */
export async function appendMessage(
  work: Work,
  thread: { id: string; members: { id: string }[] },
  draft: MessageDraft,
) {
  const [attachment] = draft.attachment_ids;
  if (attachment)
    throw new DomainError('ATTACHMENT_NOT_FOUND', `No such attachment: ${attachment.slice(0, 80)}`);
  if (draft.reply_to && !(await work.messages.find(thread.id, draft.reply_to))) {
    throw new DomainError('MESSAGE_NOT_FOUND', 'reply_to names no message of this thread.');
  }
  const { content, content_type, reply_to, metadata } = draft;
  const what = { content, content_type, reply_to, metadata };
  const message = {
    id: newId('message'),
    thread_id: thread.id,
    sender_id: work.actor.agent_id,
    ...what,
    created_at: work.now,
  };
  const sequence = await work.messages.append(message);
  const recipients = thread.members.map((member) => member.id);
  work.emit({ type: 'message.created', thread_id: thread.id, message_id: message.id, recipients });
  return { ...message, sequence, sender_handle: work.actor.handle };
}
