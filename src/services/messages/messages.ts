import { maxSequence } from '../../domain/threads.ts';
import type { Work } from '../../work/unit-of-work.ts';
import { requireThread, requireThreadForMessage } from '../access.ts';
import { requireActorState, requireActiveThread, requirePoliciesAllow } from '../actor-checks.ts';
import { type PageRequest, readPage } from '../paging.ts';
import { appendMessage, type MessageDraft } from './append-message.ts';

export interface SendMessage extends MessageDraft {
  thread_id: string;
}

/**
 * Sends a message in an active thread. In a thread of two the other member's inbound policy applies, unless it opened the thread
 * itself; in every thread a member that has blocked the sender refuses for all, since a message is for every member.
 * @throws {DomainError} THREAD_NOT_FOUND, THREAD_CLOSED, AGENT_PAUSED, AGENT_NOT_FOUND (the only other member is retired),
 * ATTACHMENT_NOT_FOUND, MESSAGE_NOT_FOUND, RATE_LIMITED (two agents in a loop), and what a policy or block of a member refuses
 */
export function sendMessage(work: Work, { thread_id, ...draft }: SendMessage) {
  return appendMessage(work, thread_id, lockOpenThread(work, thread_id), draft);
}

/** The thread with the members that a message of the actor reaches. One round trip, and the append travels with it. */
async function lockOpenThread(work: Work, id: string) {
  const { thread, audience } = await requireThreadForMessage(work, id);
  requireActorState(thread);
  requireActiveThread(thread);
  requirePoliciesAllow(thread, audience.listeners);
  return audience;
}

export interface ListMessages extends PageRequest {
  thread_id: string;
  order: 'asc' | 'desc';
  after_sequence: number;
}

/**
 * A page of a thread's messages; newest first unless asked otherwise. New messages move no page that is being read.
 * @throws {DomainError} THREAD_NOT_FOUND, INVALID_CURSOR
 */
export async function listMessages(work: Work, input: ListMessages) {
  const { thread_id, order, after_sequence, ...page } = input;
  const thread = await requireThread(work, thread_id);
  const { rows, next_cursor } = await readPage(work, page, {
    binding: ['list_messages', thread.id, order, after_sequence],
    rows(last: readonly [number] | null, limit) {
      const range =
        order === 'asc'
          ? { below: maxSequence, above: last?.[0] ?? after_sequence }
          : { below: last?.[0] ?? maxSequence, above: after_sequence };
      return work.messages.list(thread, { ...range, order, limit });
    },
    position: (message) => [message.sequence],
  });
  return { messages: rows, next_cursor };
}
