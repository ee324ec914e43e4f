import { filesOfMessages } from '../attachments/attachments.ts';
import { type Queryable, statement, query } from '../queryable.ts';

/** One thing about an agent, as it is handed out. */
export type ExportRecord = { kind: string } & Record<string, unknown>;

const handle = (column: string) => `(select canonical_handle from agents where id = ${column})`;

/** What one statement answers of an agent, each row as one JSON object; nothing that proves who somebody is. */
const sections = {
  agent: `select id, canonical_handle as handle, display_name, description, card_body, skills, scope, visibility, inbound_policy,
      can_initiate_threads, paused, created_at, updated_at, retired_at from agents where id = :agent_id`,
  contact: `select ${handle('contact_id')} as handle, favorite, since from contacts where agent_id = :agent_id order by contact_id`,
  contact_request: `select id, ${handle('from_agent_id')} as from, ${handle('to_agent_id')} as to, message, status, created_at, decided_at
      from contact_requests r where from_agent_id = :agent_id or (to_agent_id = :agent_id and not exists (
        select from blocks where agent_id = :agent_id and blocked_agent_id = r.from_agent_id)) order by id`,
  block: `select ${handle('blocked_agent_id')} as handle, reason, created_at from blocks where agent_id = :agent_id order by blocked_agent_id`,
  allowlist_entry: `select entry, created_at from allowlist_entries where agent_id = :agent_id order by entry`,
  credential: `select client_id, name, scopes, created_at, last_used_at, revoked_at from credentials where agent_id = :agent_id order by client_id`,
  connection: `select grant_id, client_id, client_name, redirect_host, scopes, created_at, last_used_at from client_grants
      where agent_id = :agent_id order by grant_id`,
  webhook: `select id, url, description, event_types, only_when_offline, enabled, created_at from webhooks where agent_id = :agent_id order by id`,
  approval: `select id, action, target, message, state, created_at, decided_at, used_at from approvals where agent_id = :agent_id order by id`,
  attachment: `select id, filename, content_type, size_bytes, sha256, scan_status, message_id, created_at from attachments
      where uploader_id = :agent_id order by id`,
} as const;

type Section = keyof typeof sections;

const statements = {
  find: statement(
    'agent_export.find',
    'select id, retired_at from agents where canonical_handle = :canonical_handle',
  ),
  threads: statement(
    'agent_export.threads',
    `select t.id, t.subject, t.status, t.created_at, t.last_sequence, m.read_sequence,
       (select json_agg(a.canonical_handle order by m2.joined_at, a.canonical_handle)
        from thread_members m2 join agents a on a.id = m2.agent_id where m2.thread_id = t.id) as members
     from thread_members m join threads t on t.id = m.thread_id
     where m.agent_id = :agent_id and m.thread_id > :after order by m.thread_id limit :limit`,
  ),
  messages: statement(
    'agent_export.messages',
    `select m.id, m.thread_id, m.sequence, a.canonical_handle as sender, m.content, m.content_type, m.reply_to, m.metadata,
       ${filesOfMessages} as attachments, m.created_at
     from messages m join agents a on a.id = m.sender_id
     where m.thread_id = :thread_id and m.sequence > :after and exists (select from thread_members v where v.thread_id = :thread_id and v.agent_id = :agent_id)
     order by m.sequence limit :limit`,
  ),
  files: statement(
    'agent_export.files',
    `select id, storage_key from attachments
     where uploader_id = :agent_id and scan_status = 'clean' and id > :after order by id limit :limit`,
  ),
};

/** Everything that the service holds of one agent, for its people. */
export function agentExportRepository(db: Queryable) {
  return {
    sections: Object.keys(sections) as Section[],
    /** Also an agent that is retired. */
    async find(canonicalHandle: string): Promise<{ id: string; retired_at: number | null } | undefined> {
      const rows = await query<{ id: string; retired_at: number | null }>(db, statements.find, {
        canonical_handle: canonicalHandle,
      });
      return rows[0];
    },
    async section(kind: Section, agentId: string): Promise<ExportRecord[]> {
      const rows = await query<object>(db, statement(`agent_export.${kind}`, sections[kind]), {
        agent_id: agentId,
      });
      return rows.map((row) => ({ kind, ...row }));
    },
    /** The threads that it is a member of, behind this one. */
    threads(agentId: string, after: string, limit: number): Promise<(object & { id: string })[]> {
      return query<object & { id: string }>(db, statements.threads, { agent_id: agentId, after, limit });
    },
    /** What was said behind this sequence in a thread, as long as the agent is a member of it. */
    messages(
      agentId: string,
      threadId: string,
      after: number,
      limit: number,
    ): Promise<(object & { sequence: number })[]> {
      const values = { agent_id: agentId, thread_id: threadId, after, limit };
      return query<object & { sequence: number }>(db, statements.messages, values);
    },
    /** Files that it uploaded and that may be handed out, behind this id. */
    files(agentId: string, after: string, limit: number): Promise<{ id: string; storage_key: string }[]> {
      return query<{ id: string; storage_key: string }>(db, statements.files, {
        agent_id: agentId,
        after,
        limit,
      });
    },
  };
}
