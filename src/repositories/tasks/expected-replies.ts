import { repository, sql } from '../sql.ts';

/** A message that expects a reply of one other member. */
export interface ExpectedReply {
  message_id: string;
  sender_id: string;
  asked_id: string;
}

/** Messages that expect a reply, one row for each asked member. They open no task. */
export const expectedRepliesRepository = repository({
  /** Those of locked threads. */
  listInThreads: sql.rows<[threadIds: readonly string[]], ExpectedReply & { thread_id: string }>(
    'expected_replies.list_in_threads',
    `select thread_id, message_id, sender_id, asked_id from expected_replies where thread_id = any(:thread_ids::text[])`,
  ),
  /** Adds the replies that a message of a locked thread expects. */
  insert: sql.run<
    [
      message: {
        id: string;
        thread_id: string;
        sequence: number;
        sender_id: string;
        created_at: number;
        asked_ids: readonly string[];
        asks_person: boolean;
      },
    ]
  >(
    'expected_replies.insert',
    `with flagged as (update threads set has_questions = true where id = :thread_id)
     insert into expected_replies (message_id, asked_id, thread_id, sequence, sender_id, asks_person, created_at)
     select :id, asked_id, :thread_id, :sequence, :sender_id, :asks_person, :created_at from unnest(:asked_ids::text[]) asked_id`,
  ),
  /** Removes what these messages expect: they were answered. */
  removeOfMessages: sql.run<[messageIds: readonly string[]]>(
    'expected_replies.remove_of_messages',
    'delete from expected_replies where message_id = any(:message_ids::text[])',
  ),
  /** Removes what a message of this sender expects; returns of how many agents. */
  removeOfSender: sql.rowCount<[messageId: string, senderId: string]>(
    'expected_replies.remove_of_sender(message_id, sender_id)',
    'delete from expected_replies where message_id = :message_id and sender_id = :sender_id returning 1',
  ),
  removeOfThread: sql.run<[threadId: string]>(
    'expected_replies.remove_of_thread',
    'delete from expected_replies where thread_id = :thread_id',
  ),
  /** Removes those that an agent, which leaves the thread, asks or is asked. */
  removeOfMember: sql.run<[threadId: string, agentId: string]>(
    'expected_replies.remove_of_member(thread_id, agent_id)',
    'delete from expected_replies where thread_id = :thread_id and :agent_id in (asked_id, sender_id)',
  ),
  /** Removes those of an agent that retires. */
  removeOfAgent: sql.run<[agentId: string]>(
    'expected_replies.remove_of_agent',
    'delete from expected_replies where asked_id = :agent_id or sender_id = :agent_id',
  ),
  /** Removes those of messages sent before a time (ms); returns how many. */
  removeBefore: sql.rowCount<[before: number, limit: number]>(
    'expected_replies.remove_before(before, limit)',
    `delete from expected_replies where (message_id, asked_id) in (
       select message_id, asked_id from expected_replies where created_at < :before order by created_at limit :limit) returning 1`,
  ),
});
