import type { MessageRow } from '../messages/messages.ts';
import { repository, sql } from '../sql.ts';

/** A withdrawal that the remote side of its thread was not told. */
export interface PendingWithdrawal {
  message_id: string;
  /** Whether the message travels as the update of a task that the remote side opened. */
  is_update: boolean;
}

/** What names the copy of a message that a client has withdrawn. */
interface CopyName {
  client_id: string;
  /** The handle of the other agent. */
  handle: string;
  thread_id: string;
  /** As the client names the message. */
  key: string;
}

/** Withdrawals between installations. */
export const remoteWithdrawalsRepository = repository({
  /** A message was withdrawn: if the thread has a remote agent that is not its sender, notes it, and the thread is due. Returns whether it is. */
  insert: sql.hasRow<[message: Pick<MessageRow, 'id' | 'thread_id' | 'sequence' | 'sender_id'>, now: number]>(
    'remote_withdrawals.insert(..., now)',
    `with thread as (
       update remote_threads set poll_at = least(poll_at, :now) where thread_id = :thread_id and agent_id <> :sender_id returning thread_id)
     insert into remote_withdrawals (message_id, thread_id, sequence, created_at) select :id, thread_id, :sequence, :now from thread
     on conflict do nothing returning 1`,
    ({ id, thread_id, sequence, sender_id }, now) => ({ id, thread_id, sequence, sender_id, now }),
  ),
  /** An attempt to tell it has failed. Returns how many have. */
  countAttempt: sql.value<[messageId: string], number>(
    'remote_withdrawals.count_attempt',
    'update remote_withdrawals set attempts = attempts + 1 where message_id = :message_id returning attempts',
  ),
  /** The remote side was told, or will not be. */
  remove: sql.run<[messageId: string]>(
    'remote_withdrawals.delete(message_id)',
    'delete from remote_withdrawals where message_id = :message_id',
  ),
  /** The copy of a message of a client in a thread: one that the client has sent, or an applied update of its task. */
  findCopy: sql.value<[name: CopyName], string | undefined>(
    'remote_withdrawals.find_copy',
    `select w.message_id from a2a_messages w join agents a on a.id = w.agent_id and a.canonical_handle = :handle
       join tasks t on t.id = w.task_id and t.thread_id = :thread_id
     where w.client_id = :client_id and w.client_message_id = :key
     union all
     select u.message_id from remote_updates u join remote_threads r on r.thread_id = u.thread_id and r.agent_id = :client_id
     where u.thread_id = :thread_id and u.key = :key and u.message_id is not null
     limit 1`,
  ),
});
