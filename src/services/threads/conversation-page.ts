import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { isId } from '../../../packages/core/src/domain/ids.ts';
import type { MessageRow } from '../../repositories/messages/messages.ts';
import type { TaskRow } from '../../repositories/tasks/task-row.ts';
import type { ReadWork } from '../../work/unit-of-work.ts';
import { attachmentNotFound } from '../access.ts';
import type { Approval } from '../approvals/approvals.ts';
import { signFile } from '../attachments/attachments.ts';
import {
  type ConversationReader,
  readConversation,
  type ReadConversation,
  requireConversation,
} from './conversations.ts';

const maxApprovals = 50;
const maxTasks = 500;
const maxPreviewCharacters = 400;

/** A conversation with everything that its page shows. */
export interface ConversationPage extends ReadConversation {
  /** Approvals that the reader's agents requested about other members, since the thread was created. */
  approvals: Approval[];
  /** Open tasks, and those that a message of the page opened. Only those with an agent of the reader as a side: they are hidden from others. */
  tasks: TaskRow[];
  /** The beginning of the text of clean attachments, by id. */
  previews: ReadonlyMap<string, string>;
}

/**
 * Returns a conversation with messages before a sequence, and what belongs to them. Each part has a maximum size, whatever the length of the
 * thread.
 * @throws {DomainError} THREAD_NOT_FOUND
 */
export async function readConversationPage(
  work: ReadWork,
  reader: ConversationReader,
  input: Parameters<typeof readConversation>[2],
): Promise<ConversationPage> {
  const read = await readConversation(work, reader, input);
  const { conversation, messages } = read;
  const own = new Set(conversation.agents.map(({ id }) => id));
  const others = conversation.members.filter(({ id }) => !own.has(id));
  const [approvals, tasks, previews] = await Promise.all([
    work.db.approvals.listBetween(
      [...own],
      others.map(({ canonical_handle }) => canonical_handle),
      { since: conversation.created_at, now: Date.now(), limit: maxApprovals },
    ),
    work.db.tasks.listShown(
      conversation.id,
      [...own],
      messages.map(({ id }) => id),
      maxTasks,
    ),
    readPreviews(work, messages),
  ]);
  return { ...read, approvals, tasks, previews };
}

/** Returns the beginning of the text of clean attachments of these messages, by id. */
export async function readPreviews(
  { db }: ReadWork,
  messages: readonly Pick<MessageRow, 'attachments'>[],
): Promise<ConversationPage['previews']> {
  const texts = messages.flatMap(({ attachments }) => attachments).filter(hasPreview);
  const ids = texts.map(({ id }) => id);
  const rows = ids.length === 0 ? [] : await db.attachments.listPreviews(ids, maxPreviewCharacters);
  return new Map(rows.flatMap(({ id, preview }) => (preview === null ? [] : [[id, preview] as const])));
}

function hasPreview({ scan_status, content_type }: { scan_status: string; content_type: string }): boolean {
  return scan_status === 'clean' && !content_type.startsWith('image/');
}

/**
 * Returns a signed URL of a file in a conversation of the reader. It expires after five minutes.
 * @throws {DomainError} THREAD_NOT_FOUND, ATTACHMENT_NOT_FOUND, ATTACHMENT_NOT_READY, ATTACHMENT_INFECTED
 */
export async function signConversationDownload(
  work: ReadWork,
  reader: ConversationReader,
  { thread_id, attachment_id }: { thread_id: string; attachment_id: string },
): Promise<string> {
  const { agents } = await requireConversation(work, reader, thread_id);
  const found = await work.db.attachments.findSeen(attachment_id, agents[0]?.id ?? '');
  if (!found || (await work.db.attachments.findThread(attachment_id)) !== thread_id)
    throw attachmentNotFound();
  return signFile(work, found);
}

/**
 * Returns a message of a conversation of the reader.
 * @throws {DomainError} THREAD_NOT_FOUND, MESSAGE_NOT_FOUND
 */
export async function findConversationMessage(
  work: ReadWork,
  reader: ConversationReader,
  { thread_id, message_id }: { thread_id: string; message_id: string },
): Promise<MessageRow> {
  const { agents } = await requireConversation(work, reader, thread_id);
  const found = isId('message', message_id)
    ? await work.db.messages.findForMember(message_id, agents[0]?.id ?? '')
    : undefined;
  if (found?.thread_id !== thread_id)
    throw new DomainError('MESSAGE_NOT_FOUND', 'No such message in this conversation.');
  return found;
}

/**
 * Returns the sequence of the first message of a conversation at a time (ms) or after it, else that of the last one.
 * @throws {DomainError} THREAD_NOT_FOUND
 */
export async function findSequenceAt(
  work: ReadWork,
  reader: ConversationReader,
  { thread_id, at }: { thread_id: string; at: number },
): Promise<number> {
  const conversation = await requireConversation(work, reader, thread_id);
  // Sequences have no gaps, and times rise with them: about twenty reads by key find one in a million.
  let [low, high] = [1, Math.max(1, conversation.last_sequence)];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const range = { above: middle - 1, below: middle + 1, order: 'asc' as const, limit: 1 };
    const [message] = await work.db.messages.list(conversation, range);
    if ((message?.created_at ?? 0) >= at) high = middle;
    else low = middle + 1;
  }
  return low;
}
