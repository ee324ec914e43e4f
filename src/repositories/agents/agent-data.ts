import { filesOfMessages } from '../attachments/attachments.ts';
import { dropCanceled } from '../inbox/claims.ts';
import { stateNow } from '../inbox/lease-clock.ts';
import { clearedContent, laterChanges, writtenBy } from '../messages/messages.ts';
import { query, type Statement, statement } from '../queryable.ts';
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
  canceled_items: `${dropCanceled('tasks')} and t.client_id = $1`,
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

const handle = (column: string) => `(select canonical_handle from agents where id = ${column})`;

/**
 * Selects the records of an agent by kind. No secrets. Each is read in pages, so it ends with an order by columns that are unique for the agent,
 * with their type if it is not text; its conditions are joined by `and`.
 */
const sections = {
  agent: `select id, canonical_handle as handle, display_name, description, card_body, skills, scope, visibility, inbound_policy,
      can_initiate_threads, outgoing_policy, paused, created_at, updated_at, retired_at from agents where id = :agent_id order by id`,
  contact: `select ${handle('contact_id')} as handle, favorite, since from contacts where agent_id = :agent_id order by contact_id`,
  removed_contact: `select ${handle('contact_id')} as handle from removed_contacts where agent_id = :agent_id order by contact_id`,
  contact_request: `select id, ${handle('from_agent_id')} as from, ${handle('to_agent_id')} as to, message, status, created_at, decided_at
      from contact_requests r where (from_agent_id = :agent_id or to_agent_id = :agent_id and not exists (
        select from blocks where agent_id = :agent_id and blocked_agent_id = r.from_agent_id)) order by id`,
  block: `select ${handle('blocked_agent_id')} as handle, reason, created_at from blocks where agent_id = :agent_id order by blocked_agent_id`,
  allowlist_entry: `select entry, created_at from allowlist_entries where agent_id = :agent_id order by entry`,
  /** Agents to which it may send without review; in all threads if the thread is null. */
  outgoing_clearance: `select ${handle('counterpart_id')} as handle, nullif(thread_id, '') as thread_id, created_at from outgoing_clearances c
      where agent_id = :agent_id order by counterpart_id, c.thread_id`,
  credential: `select client_id, name, scopes, created_at, last_used_at, revoked_at from credentials where agent_id = :agent_id order by client_id`,
  connection: `select grant_id, client_id, client_name, redirect_host, scopes, created_at, last_used_at from client_grants
      where agent_id = :agent_id order by grant_id`,
  webhook: `select id, url, description, event_types, only_when_offline, enabled, created_at from webhooks where agent_id = :agent_id order by id`,
  event_subscription: `select id, url, event_type, arguments, created_at, expires_at from event_subscriptions where agent_id = :agent_id order by id`,
  inbox: `select types, lease_seconds, max_attempts, ordered_by_thread, created_at, updated_at from inboxes where agent_id = :agent_id order by agent_id`,
  inbox_item: `select event_id, event_type, thread_id, replace(${stateNow}, 'queued', 'ready') as state, attempts, consumer, reasons
      from inbox_items i where agent_id = :agent_id and state in ('queued', 'ready', 'leased', 'dead') order by number::bigint`,
  inbox_consumer: `select consumer as name, last_claim_at from inbox_consumers where agent_id = :agent_id order by consumer`,
  task: `select id, thread_id, message_id, ${handle('client_id')} as client, ${handle('agent_id')} as agent, state, generation, due_at, overdue_at,
      created_at, updated_at from tasks where (client_id = :agent_id or agent_id = :agent_id) order by id`,
  a2a_message: `select task_id, message_id, client_message_id, wire from a2a_messages
      where (client_id = :agent_id or agent_id = :agent_id) order by task_id, message_id, client_message_id`,
  a2a_push_config: `select task_id, id, url, scheme, created_at from a2a_push_configs where client_id = :agent_id order by task_id, id`,
  /** Itself, those that talk with it only, and those that its owner added for each of its agents. */
  remote_agent: `select a.canonical_handle as handle, r.card_url, r.state, r.card, r.identity, r.confirmed, r.credential_kind,
      ${handle('r.bound_id')} as only_with, r.last_delivered_at, r.last_error, r.failing_since, r.expires_at, r.created_at
      from remote_agents r join agents a on a.id = r.agent_id
      where (:agent_id in (r.agent_id, r.bound_id) or r.bound_id is null and a.owner_id = (select owner_id from agents where id = :agent_id))
      order by r.agent_id`,
  remote_invitation: `select id, ${handle('remote_id')} as remote_agent, created_at, expires_at, redeemed_at from remote_invitations
      where agent_id = :agent_id order by id`,
  remote_message: `select r.message_id, r.thread_id, r.outcome, r.delivery, r.remote_task_id, r.error, r.created_at
      from remote_messages r join thread_members m using (thread_id) where m.agent_id = :agent_id order by r.message_id`,
  expected_reply: `select message_id, ${handle('asked_id')} as asked, thread_id, created_at from expected_replies
      where (asked_id = :agent_id or sender_id = :agent_id) order by message_id, asked_id`,
  approval: `select id, action, target, recipients, message, state, reason, created_at, decided_at, used_at from approvals where agent_id = :agent_id order by id`,
  watch_link: `select id, thread_id, allows_files, created_at, expires_at, ended_at, views, viewed_at from watch_links
      where agent_id = :agent_id order by id`,
  usage: `select day, array(select canonical_handle from agents where id = any(recipients) order by 1) as recipients, messages, bytes, stopped_loops
      from usage_days where sender_id = :agent_id order by day::bigint, recipients_hash::bytea`,
  attachment: `select id, filename, content_type, size_bytes, sha256, scan_status, message_id, created_at from attachments
      where uploader_id = :agent_id order by id`,
} as const;

export type Section = keyof typeof sections;

const kinds = Object.keys(sections) as Section[];

/** The values of the columns that order a section, in one of its records. */
type SectionKey = readonly unknown[];

const selections = new Map(
  Object.entries(sections).map(([kind, text]) => [kind, statement(`agent_export.${kind}`, toPage(text))]),
);

/** Limits a section to `limit` records after the key `after`, as JSON; its first ones are after an empty one. */
function toPage(section: string): string {
  const [, select, order = ''] = /^select (.*) order by (.*)$/s.exec(section) ?? [];
  const columns = order.split(', ').map((column) => column.split('::'));
  const key = columns.map(([name]) => name).join(', ');
  const after = columns.map(
    ([, type = 'text'], at) =>
      `coalesce(:after::jsonb ->> ${at}, '${type === 'bigint' ? '0' : ''}')::${type}`,
  );
  return `select jsonb_build_array(${key}) as key, ${select} and (${key}) > (${after.join(', ')}) order by ${key} limit :limit`;
}

/** Reads all data of one agent for an export. */
export const agentExportRepository = repository(
  {
    /** Also finds a retired agent. */
    find: sql.row<[canonicalHandle: string], { id: string; retired_at: number | null }>(
      'agent_export.find',
      'select id, retired_at from agents where canonical_handle = :canonical_handle',
    ),
    /** The next thread that it is a member of, by id, after this id. */
    nextThread: sql.row<[agentId: string, after: string], object & { id: string }>(
      'agent_export.next_thread(agent_id, after)',
      `select t.id, t.subject, t.status, t.metadata, t.created_at, t.last_sequence, m.read_sequence,
         (select json_agg(a.canonical_handle order by m2.joined_at, a.canonical_handle)
          from thread_members m2 join agents a on a.id = m2.agent_id where m2.thread_id = t.id) as members
       from thread_members m join threads t on t.id = m.thread_id
       where m.agent_id = :agent_id and m.thread_id > :after order by m.thread_id limit 1`,
    ),
    /** The messages of a thread after this sequence; none when the agent is not a member. */
    messages: sql.rows<
      [agentId: string, threadId: string, after: number, limit: number],
      object & { sequence: number }
    >(
      'agent_export.list_messages(agent_id, thread_id, after, limit)',
      `select m.id, m.thread_id, m.sequence, a.canonical_handle as sender, m.content, m.content_type, m.reply_to, m.metadata,
         ${filesOfMessages} as attachments, ${writtenBy}, m.created_at, ${laterChanges}
       from messages m join agents a on a.id = m.sender_id
       where m.thread_id = :thread_id and m.sequence > :after and exists (select from thread_members v where v.thread_id = :thread_id and v.agent_id = :agent_id)
       order by m.sequence limit :limit`,
    ),
    /** The clean files that it uploaded, by id, after this id. */
    files: sql.rows<[agentId: string, after: string, limit: number], { id: string; storage_key: string }>(
      'agent_export.list_files(agent_id, after, limit)',
      `select id, storage_key from attachments
       where uploader_id = :agent_id and scan_status = 'clean' and id > :after order by id limit :limit`,
    ),
  },
  (db) => ({
    /** The kinds of records from this one on, in their order. */
    sectionsFrom: (kind: Section) => kinds.slice(kinds.indexOf(kind)),
    /** The next records of one kind, each with its key, after this key. */
    async section(kind: Section, agentId: string, after: SectionKey, limit: number) {
      const selection = selections.get(kind);
      if (!selection) throw new Error(`an export has no section ${kind}`);
      const values = { agent_id: agentId, after: JSON.stringify(after), limit };
      const rows = await query<{ key: SectionKey }>(db, selection, values);
      return rows.map(({ key, ...row }) => ({ key, record: { kind, ...row } }));
    },
  }),
);
