import { DomainError } from '../domain/errors.ts';
import type { Work } from '../unit-of-work.ts';
import { threadFor } from './access.ts';
import { appendMessage, type MessageDraft } from './steps.ts';

export interface SendMessage extends MessageDraft {
  thread_id: string;
}

/**
 * Sends a message in an active thread.
 * @throws {DomainError} THREAD_NOT_FOUND, THREAD_CLOSED, ATTACHMENT_NOT_FOUND, MESSAGE_NOT_FOUND
 */
export function sendMessage(work: Work, { thread_id, ...draft }: SendMessage) {
  return appendMessage(work, thread_id, activeThread(work, thread_id), draft);
}

async function activeThread(work: Work, id: string) {
  const thread = await threadFor(work, id, { lock: true });
  if (thread.status !== 'active') {
    throw new DomainError(
      'THREAD_CLOSED',
      `This thread is ${thread.status}; set it to active first, or open another one.`,
    );
  }
  return thread;
}

export interface ListMessages {
  thread_id: string;
  limit: number;
  order: 'asc' | 'desc';
  after_sequence: number;
  cursor?: string | undefined;
}

const endless = 2_147_483_647;

/** A page of a thread's messages; newest first unless asked otherwise. New messages move no page that is being read. */
export async function listMessages(work: Work, input: ListMessages) {
  const { thread_id, limit, order, after_sequence, cursor } = input;
  const thread = await threadFor(work, thread_id);
  const binding = JSON.stringify(['list_messages', work.actor.agent_id, thread.id, order, after_sequence]);
  const [position] = cursor ? work.cursors.decode(binding, cursor) : [];
  const from = typeof position === 'number' ? position : undefined;
  const range =
    order === 'asc'
      ? { below: endless, above: from ?? after_sequence }
      : { below: from ?? endless, above: after_sequence };
  const rows = await work.messages.list(thread.id, { ...range, order, limit: limit + 1 });
  const messages = rows.slice(0, limit);
  const last = messages.at(-1);
  const next_cursor = rows.length > limit && last ? work.cursors.encode(binding, [last.sequence]) : undefined;
  return { thread, messages, next_cursor };
}
