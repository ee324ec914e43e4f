import { repository, sql } from '../sql.ts';
import { clearedContent, type MessageRow } from './messages.ts';

/** A message that another one is to replace. */
export type ReplacedRow = Pick<
  MessageRow,
  'id' | 'thread_id' | 'sequence' | 'sender_id' | 'withdrawn_at' | 'replaced_by'
>;

/** A stored answer of an idempotency key. */
interface StoredAnswer {
  key_hash: Buffer;
  answer: string;
}

/** Removes the content of withdrawn messages, and connects messages with those that replace them. The caller has locked their threads. */
export const messageWithdrawalsRepository = repository({
  /**
   * Removes what a message says, its files, and what it expects. Its files are unsent uploads that have expired, so maintenance removes
   * them with their bytes.
   */
  clear: sql.run<[id: string, now: number]>(
    'message_withdrawals.clear(id, now)',
    `with search as (
       delete from message_search where message_id = :id
     ), received as (
       update a2a_messages set wire = null where message_id = :id and wire is not null
     ), data as (
       update task_messages set data = null where message_id = :id and data is not null
     ), files as (
       update attachments set message_id = null, position = null, preview = null, expires_at = 0 where message_id = :id
     ), expected as (
       delete from expected_replies where message_id = :id
     )
     update messages set ${clearedContent}, metadata = '{}', withdrawn_at = :now where id = :id`,
  ),
  /**
   * Removes the names of files from their events, by the feed of the agent that uploaded them. Scans end within an hour, so the
   * range of event ids is short.
   */
  clearFileNames: sql.run<
    [agentId: string, files: { ids: readonly string[]; min_id: string; max_id: string }]
  >(
    'message_withdrawals.clear_file_names(agent_id, ...)',
    `update events e set data = jsonb_set(e.data, '{filename}', '""')
     from feed f where f.agent_id = :agent_id and f.event_id >= :min_id and f.event_id < :max_id
       and e.id = f.event_id and e.id >= :min_id and e.id < :max_id and e.type = 'attachment.scanned'
       and e.data ->> 'attachment_id' = any(:ids::text[])`,
  ),
  listReplaced: sql.rows<[ids: readonly string[]], ReplacedRow>(
    'message_withdrawals.list_replaced',
    'select id, thread_id, sequence, sender_id, withdrawn_at, replaced_by from messages where id = any(:ids::text[])',
  ),
  /** Connects two messages, of which both exist. */
  replace: sql.run<[old_id: string, new_id: string]>(
    'message_withdrawals.replace(old_id, new_id)',
    `update messages set replaced_by = case when id = :old_id then :new_id else replaced_by end,
       replaces = case when id = :new_id then :old_id else replaces end
     where id in (:old_id, :new_id)`,
  ),
  /** The answers that contain a text, of the keys that were stored in this range of time (ms). */
  listAnswers: sql.rows<[text: string, since: number, until: number], StoredAnswer>(
    'message_withdrawals.list_answers(text, since, until)',
    `select key_hash, answer from idempotency_keys
     where created_at between :since and :until and strpos(answer, :text) > 0 order by key_hash for update`,
  ),
  /** Removes the answers that contain a text, of the keys that were stored in this range of time (ms). */
  removeAnswers: sql.run<[text: string, since: number, until: number]>(
    'message_withdrawals.remove_answers(text, since, until)',
    'delete from idempotency_keys where created_at between :since and :until and strpos(answer, :text) > 0',
  ),
  replaceAnswer: sql.run<[answer: StoredAnswer]>(
    'message_withdrawals.replace_answer',
    'update idempotency_keys set answer = :answer where key_hash = :key_hash',
  ),
});
