import type { Agent, AgentRef, Message, Thread } from '../core/records.ts';
import { ServiceError } from '../core/service-error.ts';
import type { Call } from '../core/state.ts';

export const toRef = ({ id, canonical_handle }: AgentRef): AgentRef => ({ id, canonical_handle });

/** @throws {ServiceError} THREAD_NOT_FOUND, the same for an absent thread and for one of others */
export function requireThread({ state, me }: Call, id: string): Thread {
  const thread = state.threads.get(id);
  if (thread?.members.some((member) => member.id === me.id)) return thread;
  throw new ServiceError('THREAD_NOT_FOUND', 'No such thread, or you are not a member of it.');
}

/** The other members. */
export function othersOf({ state, me }: Call, { members }: Thread): Agent[] {
  return members.flatMap(({ id }) => (id === me.id ? [] : (state.agents.get(id) ?? [])));
}

/** The messages of others after the read mark. */
export function countUnread({ members, messages }: Thread, { id }: AgentRef): number {
  const read = members.find((member) => member.id === id)?.read ?? 0;
  return messages.filter(({ sequence, sender }) => sequence > read && sender.id !== id).length;
}

/** A thread as its member sees it; without a reader nothing is unread. */
export function presentThread(thread: Thread, reader: AgentRef | null) {
  const { id, subject, status, created_by, metadata, members, messages } = thread;
  const { last_message_at, created_at, updated_at } = thread;
  return {
    id,
    subject,
    status,
    created_by: created_by.canonical_handle,
    created_by_id: created_by.id,
    metadata,
    members: members.map(toRef),
    last_message_at,
    created_at,
    updated_at,
    last_sequence: messages.length,
    unread_count: reader ? countUnread(thread, reader) : 0,
  };
}

/** A message with its files as they are now. */
export function presentMessage(message: Message): object {
  return { ...message, attachments: message.attachments.map(({ record }) => ({ ...record })) };
}
