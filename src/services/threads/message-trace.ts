import { estimateTokens } from '../../../packages/core/src/domain/usage.ts';
import type { InboxTrace, RemoteTrace, WebhookTrace } from '../../repositories/messages/traces.ts';
import type { MessageRow } from '../../repositories/messages/messages.ts';
import type { ReadWork } from '../../work/unit-of-work.ts';
import { findConversationMessage } from './conversation-page.ts';
import { type ConversationReader, requireConversation } from './conversations.ts';

/** What happened to a message, as the people of some of the members may know it. */
export interface MessageTrace {
  message: MessageRow;
  /** The message that it answers. */
  question: MessageRow | undefined;
  /** An estimate. */
  tokens: number;
  /** In the inboxes, and to the webhooks, of the reader's agents. */
  inboxes: InboxTrace[];
  webhooks: WebhookTrace[];
  /** Undefined: it went to no agent of another system, or is not sent yet. */
  remote: RemoteTrace | undefined;
}

/**
 * Returns what happened to a message of a conversation of the reader.
 * @throws {DomainError} THREAD_NOT_FOUND, MESSAGE_NOT_FOUND
 */
export async function readMessageTrace(
  work: ReadWork,
  reader: ConversationReader,
  wanted: { thread_id: string; message_id: string },
): Promise<MessageTrace> {
  const message = await findConversationMessage(work, reader, wanted);
  const { agents } = await requireConversation(work, reader, wanted.thread_id);
  const own = agents.map(({ id }) => id);
  const { messageTraces, messages } = work.db;
  const [question, inboxes, webhooks, remote] = await Promise.all([
    message.reply_to === null ? undefined : messages.findForMember(message.reply_to, own[0] ?? ''),
    messageTraces.listInboxes(message, own),
    messageTraces.listWebhooks(message, own),
    messageTraces.findRemote(message.id),
  ]);
  const tokens = estimateTokens(Buffer.byteLength(message.content));
  return { message, question, tokens, inboxes, webhooks, remote };
}
