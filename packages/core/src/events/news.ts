import type { EventType } from './list.ts';

/** An event, as far as it decides whether it is news for an agent. */
interface Occurred {
  type: EventType;
  message: { sender_id: string } | null;
  data: object;
}

/**
 * Whether an event tells an agent something that it does not know: no message of its own, no change of a task by itself, and none that a
 * message caused, because the message is an event of its own. `isNewsFor` is the same in SQL.
 */
export function isNews({ type, message, data }: Occurred, agent_id: string): boolean {
  if (type === 'message.created') return message?.sender_id !== agent_id;
  if (type !== 'task.updated') return true;
  const { message_id, by } = data as { message_id: string | null; by: { id: string } | null };
  return message_id === null && by?.id !== agent_id;
}
