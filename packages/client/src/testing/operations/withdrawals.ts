import { withdrawIn, withdrawnContent } from '../../../../core/src/domain/withdrawals.ts';
import { messageReference } from '../../../../core/src/inputs/messages.ts';
import { messageNotFound, requireSender } from '../../../../core/src/policies/withdrawals.ts';
import { presentMessage } from '../../../../core/src/records/message.ts';
import { emit } from '../core/feed.ts';
import { answersOf } from '../core/idempotency.ts';
import { removeFromInboxes } from '../core/inbox.ts';
import type { Message, Thread } from '../core/records.ts';
import { type Call, defineHandler, type State } from '../core/state.ts';
import { byCaller, cancelTaskOf } from '../core/tasks.ts';
import { requireActive } from './messages.ts';

/** A message of the caller, with its thread. @throws {DomainError} MESSAGE_NOT_FOUND, FORBIDDEN */
function requireOwnMessage({ state, me }: Call, id: string): { message: Message; thread: Thread } {
  const message = state.messages.get(id);
  const thread = state.threads.get(message?.thread_id ?? '');
  if (!message || thread?.members.some((member) => member.id === me.id) !== true) throw messageNotFound();
  requireSender(message, me.id);
  return { message, thread };
}

/** Removes the content of a message wherever it is kept. */
function clear(state: State, message: Message, withdrawn_at: number): void {
  for (const { id } of message.attachments) state.attachments.delete(id);
  Object.assign(message, withdrawnContent, { withdrawn_at });
  for (const task of state.tasks.values())
    for (const part of task.messages) if (part.message === message) part.data = null;
  for (const answer of answersOf(state).values())
    answer.output = answer.output.then(
      (output) => withdrawIn(output, message.id, withdrawn_at) as typeof output,
    );
}

export const withdrawalHandlers = {
  withdraw_message: defineHandler(messageReference, (call, { message_id }) => {
    const { state } = call;
    const { message, thread } = requireOwnMessage(call, message_id);
    if (typeof message.withdrawn_at === 'number') return presentMessage(message);
    requireActive(thread);
    cancelTaskOf(call, message);
    const withdrawn_at = state.clock.now();
    clear(state, message, withdrawn_at);
    removeFromInboxes(state, message, thread);
    const { thread_id, sequence } = message;
    emit(state, {
      type: 'message.withdrawn',
      thread_id,
      recipients: thread.members.map(({ id }) => id),
      data: { thread_id, message_id, sequence, by: byCaller(call), withdrawn_at },
    });
    return presentMessage(message);
  }),
};
