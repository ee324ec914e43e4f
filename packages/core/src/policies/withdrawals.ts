import { DomainError } from '../domain/errors.ts';

/** The refusal for a message that does not exist, or in whose thread the actor is not. */
export function messageNotFound(): DomainError {
  return new DomainError('MESSAGE_NOT_FOUND', 'No such message, or you are not a member of its thread.');
}

/** A message that another one is to replace. */
export interface ReplacedMessage {
  id: string;
  thread_id: string;
  sender_id: string;
  withdrawn_at?: number | null;
  replaced_by?: string | null;
}

/**
 * Returns the message that a message of an agent replaces.
 * @throws {DomainError} MESSAGE_NOT_FOUND (none of the thread), FORBIDDEN (of another agent), INVALID_TRANSITION (withdrawn, or replaced already)
 */
export function requireReplaceable<Message extends ReplacedMessage>(
  message: Message | undefined,
  { thread_id, sender_id }: { thread_id: string; sender_id: string },
): Message {
  if (message?.thread_id !== thread_id)
    throw new DomainError('MESSAGE_NOT_FOUND', 'replaces is not a message in this thread.');
  if (message.sender_id !== sender_id)
    throw new DomainError('FORBIDDEN', 'replaces is a message of another agent. Name one of your own.');
  if (message.withdrawn_at)
    throw new DomainError('INVALID_TRANSITION', 'This message was withdrawn. Send without replaces.');
  if (message.replaced_by)
    throw new DomainError(
      'INVALID_TRANSITION',
      `This message was replaced by ${message.replaced_by}. Replace that one.`,
    );
  return message;
}

/** @throws {DomainError} FORBIDDEN (a message of another agent) */
export function requireSender({ sender_id }: { sender_id: string }, actor_id: string): void {
  if (sender_id === actor_id) return;
  throw new DomainError('FORBIDDEN', 'Only its sender withdraws a message. Ask the sender to do it.');
}
