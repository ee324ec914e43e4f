import { DomainError } from '../../domain/errors.ts';
import { newId } from '../../domain/ids.ts';
import { exchangeWindowMs } from '../../domain/limits.ts';
import { checkLoop } from '../../policies/loops.ts';
import type { Work } from '../../work/unit-of-work.ts';
import { lockFilesToSend } from '../attachments/files-to-send.ts';

/** A message as its sender writes it. */
export interface MessageDraft {
  content: string;
  content_type: 'text' | 'markdown';
  attachment_ids: readonly string[];
  reply_to: string | null;
  metadata: Record<string, unknown>;
}

type Thread = NonNullable<Awaited<ReturnType<Work['threads']['findForMember']>>>;

/** A thread as events show it: what differs from member to member is not part of it. */
export function toThreadEventData(thread: Thread): object {
  const { read_sequence: _mark, created_by_handle: _handle, ...data } = thread;
  return data;
}

/**
 * Appends a message to a thread that the unit of work holds, and tells every member. A step of more than one use case.
 * @param held the thread; it may still be on its way behind the lock: the message then travels with the request for it, and
 * is undone with everything else when the thread turns out to be absent or closed.
 * @returns the row, with its place in the thread.
 * @throws {DomainError} ATTACHMENT_NOT_FOUND, ATTACHMENT_ALREADY_SENT, ATTACHMENT_NOT_READY (it could not be scanned),
 * ATTACHMENT_INFECTED, MESSAGE_NOT_FOUND (reply_to), RATE_LIMITED (two agents in a loop), and what `held` rejects with
 */
export async function appendMessage(
  work: Work,
  thread_id: string,
  held: Promise<{ member_ids: string[] }>,
  draft: MessageDraft,
) {
  const { content, content_type, reply_to, metadata } = draft;
  const ids = draft.attachment_ids;
  if (ids.length > 0 || reply_to !== null) await held;
  const attachments = ids.length > 0 ? await lockFilesToSend(work, ids) : [];
  if (reply_to !== null && !(await work.messages.find(thread_id, reply_to))) {
    throw new DomainError('MESSAGE_NOT_FOUND', 'reply_to names no message of this thread.');
  }
  const what = { content, content_type, reply_to, metadata };
  const sender_id = work.actor.agent_id;
  const message = { id: newId('message'), thread_id, sender_id, ...what, created_at: work.now };
  const { loopLimit } = work;
  const counted = loopLimit && { period: loopLimit.seconds * 1_000, within: exchangeWindowMs };
  const appending = work.messages.append({ ...message, attachment_count: ids.length }, counted);
  // What is wrong with the thread comes first; that nothing could be appended to it only follows.
  appending.catch(() => undefined);
  const { member_ids: recipients } = await held;
  const { sequence, created_at, exchanges, since } = await appending;
  if (loopLimit && exchanges !== null && since !== null) {
    const refusal = checkLoop({ exchanges, since }, loopLimit, created_at);
    if (refusal) throw refusal;
  }
  if (ids.length > 0) await work.attachments.send(message.id, ids);
  const sent = { ...message, sequence, created_at, sender_handle: work.actor.handle, attachments };
  work.emit({ type: 'message.created', thread_id, message_id: message.id, recipients }, sent);
  return sent;
}
