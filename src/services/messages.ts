import { DomainError } from '../domain/errors.ts';
import { messageRefusal } from '../policies/inbound.ts';
import type { Work } from '../unit-of-work.ts';
import { threadFor } from './access.ts';
import { requireActing } from './acting.ts';
import { appendMessage, type MessageDraft } from './steps.ts';

export interface SendMessage extends MessageDraft {
  thread_id: string;
}

/**
 * Sends a message in an active thread. In a thread of two the other member's inbound policy applies, unless it opened the thread
 * itself; in every thread a member that has blocked the sender refuses for all, since a message is for every member.
 * @throws {DomainError} THREAD_NOT_FOUND, THREAD_CLOSED, AGENT_PAUSED, AGENT_NOT_FOUND (the only other member is retired),
 * ATTACHMENT_NOT_FOUND, MESSAGE_NOT_FOUND, and what a policy or block of a member refuses
 */
export function sendMessage(work: Work, { thread_id, ...draft }: SendMessage) {
  return appendMessage(work, thread_id, openThread(work, thread_id), draft);
}

/** The thread with the members that a message of the actor reaches. One round trip, and the append travels with it. */
async function openThread(work: Work, id: string) {
  const [held, counterparts, acting] = await Promise.allSettled([
    threadFor(work, id, { lock: true }),
    work.threads.counterparts(id, work.actor.agent_id),
    requireActing(work),
  ]);
  // That the thread is none of the actor's comes before everything else.
  const thread = valueOf(held);
  valueOf(acting);
  if (thread.status !== 'active') {
    throw new DomainError(
      'THREAD_CLOSED',
      `This thread is ${thread.status}; set it to active first, or open another one.`,
    );
  }
  const away = new Set<string>();
  for (const other of valueOf(counterparts)) {
    const refusal = messageRefusal(other, thread.created_by === other.id);
    if (refusal) throw refusal;
    if (other.retired) away.add(other.id);
  }
  return { members: thread.members.filter(({ id: member }) => !away.has(member)) };
}

function valueOf<T>(result: PromiseSettledResult<T>): T {
  if (result.status === 'rejected') throw result.reason;
  return result.value;
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
