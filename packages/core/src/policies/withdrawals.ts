import { DomainError } from '../domain/errors.ts';

/** The refusal for a message that does not exist, or in whose thread the actor is not. */
export function messageNotFound(): DomainError {
  return new DomainError('MESSAGE_NOT_FOUND', 'No such message, or you are not a member of its thread.');
}

/** @throws {DomainError} FORBIDDEN (a message of another agent) */
export function requireSender({ sender_id }: { sender_id: string }, actor_id: string): void {
  if (sender_id === actor_id) return;
  throw new DomainError('FORBIDDEN', 'Only its sender withdraws a message. Ask the sender to do it.');
}
