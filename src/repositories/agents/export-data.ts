import { filesOfMessages } from '../attachments/attachments.ts';
import { stateNow } from '../inbox/lease-clock.ts';
import { laterChanges, writtenBy } from '../messages/messages.ts';
import { statement, query } from '../queryable.ts';
import { repository, sql } from '../sql.ts';

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
