import { clearedContent } from '../messages/messages.ts';
import { type Statement, statement } from '../queryable.ts';
import { repository, sql } from '../sql.ts';

/** The metadata of an erased message. Its sequence and sender stay. */
const erased = `'{"erased": true}'::jsonb`;

/** Deletes rows of a retired agent ($1), and its id in rows of others, in an order that foreign keys permit. */
const ownedRows = {
  contact_requests: 'delete from contact_requests where from_agent_id = $1 or to_agent_id = $1',
  contacts: 'delete from contacts where agent_id = $1 or contact_id = $1 /* no version: it is retired */',
  removed_contacts: 'delete from removed_contacts where agent_id = $1 or contact_id = $1',
  blocks: 'delete from blocks where agent_id = $1 or blocked_agent_id = $1 /* no version: it only permits */',
  allowlist_entries: 'delete from allowlist_entries where agent_id = $1 /* no version: it is retired */',
  last_seen: 'delete from last_seen where agent_id = $1',
  /** With what the other systems said about its messages. */
  remote_threads: `delete from remote_threads r using thread_members m where m.thread_id = r.thread_id and m.agent_id = $1`,
  remote_agents: 'delete from remote_agents where agent_id = $1',
  remote_invitations: 'delete from remote_invitations where agent_id = $1',
  tasks: 'delete from tasks where client_id = $1 or agent_id = $1',
  expected_replies: 'delete from expected_replies where asked_id = $1 or sender_id = $1',
  watch_links: 'delete from watch_links where agent_id = $1',
  approvals: 'delete from approvals where agent_id = $1',
  outgoing_clearances: 'delete from outgoing_clearances where agent_id = $1 or counterpart_id = $1',
  notification_items: 'delete from notification_items where agent_id = $1',
  usage_days: 'delete from usage_days where sender_id = $1',
  /** The hash would tell that the agent was a recipient. */
  usage_recipients: `update usage_days set recipients = array_remove(recipients, $1), recipients_hash = sha256(uuid_send(gen_random_uuid()))
    where recipients @> array[$1]`,
  webhooks: 'delete from webhooks where agent_id = $1',
  event_subscriptions: 'delete from event_subscriptions where agent_id = $1',
  credentials: 'delete from credentials where agent_id = $1',
  access_tokens: 'delete from access_tokens where agent_id = $1',
  inbox_items: 'delete from inbox_items where agent_id = $1',
  inbox_consumers: 'delete from inbox_consumers where agent_id = $1',
  inboxes: 'delete from inboxes where agent_id = $1',
  deleted_inboxes: 'delete from deleted_inboxes where agent_id = $1',
  mcp_sessions: 'delete from mcp_sessions where agent_id = $1',
} as const;

const removals = Object.entries(ownedRows).map(
  ([name, text]) =>
    [
      name,
      statement(
        `erasure.remove_${name}`,
        `with removed as (${text} returning 1) select count(*)::int as rows from removed`,
      ),
    ] as const,
);

const statements = {
  /** In the order of the worker that counts. A statement of its own: the next ones then see what an erasure of another agent has changed. */
  lockUsage: statement(
    'erasure.lock_usage',
    `select from usage_days where sender_id = $1 or recipients @> array[$1] order by sender_id, day, recipients_hash for update`,
  ),
  /** They hold its reasons. */
  clearThreads: statement(
    'erasure.clear_threads',
    `update threads set metadata = '{}' where created_by = $1 and metadata <> '{}'`,
  ),
  clearCard: statement(
    'erasure.clear_card',
    `update agents set display_name = canonical_handle, description = '', card_body = '', skills = '[]', visibility = 'private', updated_at = $2
     where id = $1 and (display_name, description, card_body, skills, visibility) is distinct from (canonical_handle, '', '', '[]'::jsonb, 'private')`,
  ),
  removeFeedEntries: statement(
    'erasure.remove_feed_entries',
    `with removed as (delete from feed f using (select number from feed where agent_id = $1 order by number limit $2) n
       where f.agent_id = $1 and f.number = n.number returning 1)
     select count(*)::int as rows from removed`,
  ),
  /** Scans all messages by id: no index covers the messages of an agent in threads that it has left. */
  scanMessages: statement(
    'erasure.scan_messages',
    `select max(id) as after, count(*)::int as examined, coalesce(array_agg(id) filter (where is_sent), '{}') as sent
     from (select id, sender_id = $1 as is_sent from messages where id > $2 order by id limit $3) m`,
  ),
  clearMessages: statement(
    'erasure.clear_messages',
    `update messages set ${clearedContent}, metadata = ${erased}
     where id = any($1) and (content <> '' or metadata <> ${erased} or attachment_count > 0) returning 1`,
  ),
};

/** Erases the data of an agent but keeps the sequence of messages for others. Every step can be repeated. */
export const erasureRepository = repository(
  {
    /** Removes files that it uploaded, sent or not; returns their storage keys. */
    removeFiles: sql.values<[agentId: string, limit: number], string>(
      'erasure.remove_files(agent_id, limit)',
      `delete from attachments where id = any(array(select id from attachments where uploader_id = :agent_id order by id limit :limit)) returning storage_key`,
    ),
    /** Removes incomplete uploads; returns their storage keys. */
    removeUploads: sql.values<[agentId: string], string>(
      'erasure.remove_uploads',
      'delete from uploads where uploader_id = :agent_id returning storage_key',
    ),
    /** The current time of the database, as text. */
    readDatabaseTime: sql.value<[], string>('erasure.read_time', 'select clock_timestamp()::text as time'),
    /** Whether a transaction of this service that began before this time is still open. */
    hasOpenTransactionSince: sql.value<[time: string], boolean>(
      'erasure.has_open_transaction',
      `select exists (select from pg_stat_activity where datname = current_database() and xact_start < :time::timestamptz
         and application_name = 'ams' and pid <> pg_backend_pid()) as is_open`,
    ),
  },
  (db) => {
    async function count(counting: Statement, values: readonly unknown[]): Promise<number> {
      return (await db.query<{ rows: number }>(counting, values))[0]?.rows ?? 0;
    }
    return {
      /** Removes rows that belong to this agent alone, and the agent from rows of others; returns the number of rows by name. */
      async removeOwnedRows(agentId: string): Promise<Record<string, number>> {
        await db.query(statements.lockUsage, [agentId]);
        const counts: Record<string, number> = {};
        for (const [name, removal] of removals) counts[name] = await count(removal, [agentId]);
        return counts;
      },
      /** With the metadata of its threads. */
      async clearCard(agentId: string, now: number): Promise<void> {
        await db.query(statements.clearThreads, [agentId]);
        await db.query(statements.clearCard, [agentId, now]);
      },
      /** Removes up to `limit` of its oldest feed entries; returns how many. */
      removeFeedEntries: (agentId: string, limit: number) =>
        count(statements.removeFeedEntries, [agentId, limit]),
      /** Examines the next messages of all agents; `mine` are the ids of those that this agent sent. */
      async scanMessages(agentId: string, after: string, limit: number) {
        type Scan = { after: string | null; examined: number; sent: string[] };
        const [scan] = await db.query<Scan>(statements.scanMessages, [agentId, after, limit]);
        return { examined: scan?.examined ?? 0, after: scan?.after ?? after, mine: scan?.sent ?? [] };
      },
      /** Clears these messages; returns how many were not cleared before. */
      async clearMessages(ids: readonly string[]): Promise<number> {
        return (await db.query(statements.clearMessages, [ids])).length;
      },
    };
  },
);
