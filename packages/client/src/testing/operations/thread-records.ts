import { DomainError } from '../../../../core/src/domain/errors.ts';
import { presentThread as presentColumns, type ThreadColumns } from '../../../../core/src/records/thread.ts';
import type { Agent, AgentRef, Thread } from '../core/records.ts';
import type { Call } from '../core/state.ts';

export const toRef = ({ id, canonical_handle }: AgentRef): AgentRef => ({ id, canonical_handle });

/** @throws {DomainError} THREAD_NOT_FOUND, the same for an absent thread and for one of others */
export function requireThread({ state, me }: Call, id: string): Thread {
  const thread = state.threads.get(id);
  if (thread?.members.some((member) => member.id === me.id)) return thread;
  throw new DomainError('THREAD_NOT_FOUND', 'No such thread, or you are not a member of it.');
}

/** The other members. */
export function othersOf({ state, me }: Call, { members }: Thread): Agent[] {
  return members.flatMap(({ id }) => (id === me.id ? [] : (state.agents.get(id) ?? [])));
}

/** The messages of others after the read mark. */
export function countUnread({ members, messages }: Thread, { id }: AgentRef): number {
  const read = members.find((member) => member.id === id)?.read_sequence ?? 0;
  return messages.filter(({ sequence, sender_id }) => sequence > read && sender_id !== id).length;
}

/** The columns of a thread, as events store them too. Without a reader nothing is unread. */
export function columnsOf({ messages, activity: _order, ...thread }: Thread): ThreadColumns {
  const members = thread.members.map(toRef);
  return { ...thread, members, last_sequence: messages.length, unread_count: 0 };
}

/** A thread as its member sees it. */
export const presentThread = (thread: Thread, reader: AgentRef) =>
  presentColumns({ ...columnsOf(thread), unread_count: countUnread(thread, reader) });
