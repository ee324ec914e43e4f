import { type Queryable, type Statement, statement } from '../queryable.ts';

/** What is left of a message: its place, its sender, and that it was erased. */
const erased = `'{"erased": true}'::jsonb`;

/** Rows of an agent ($1) that go as they are, in an order that no foreign key stands against. */
const ownedRows = {
  contact_requests: 'delete from contact_requests where from_agent_id = $1 or to_agent_id = $1',
  contacts: 'delete from contacts where agent_id = $1 or contact_id = $1',
  blocks: 'delete from blocks where agent_id = $1 or blocked_agent_id = $1',
  allowlist_entries: 'delete from allowlist_entries where agent_id = $1',
  approvals: 'delete from approvals where agent_id = $1',
  webhooks: 'delete from webhooks where agent_id = $1',
  credentials: 'delete from credentials where agent_id = $1',
  access_tokens: 'delete from access_tokens where agent_id = $1',
  mcp_sessions: 'delete from mcp_sessions where agent_id = $1',
} as const;

const statements = {
  card: statement(
    'erasure.card',
    `update agents set display_name = canonical_handle, description = '', card_body = '', skills = '[]', visibility = 'private', updated_at = $2
     where id = $1 and (display_name, description, card_body, skills, visibility) is distinct from (canonical_handle, '', '', '[]'::jsonb, 'private')`,
  ),
  feed: statement(
    'erasure.feed',
    `with gone as (delete from feed f using (select number from feed where agent_id = $1 order by number limit $2) n
       where f.agent_id = $1 and f.number = n.number returning 1)
     select count(*)::int as rows from gone`,
  ),
  /** Looked for by id, in the order in which they were made: nothing but the whole log knows what an agent said where it has left. */
  look: statement(
    'erasure.look',
    `select max(id) as after, count(*)::int as examined, coalesce(array_agg(id) filter (where mine), '{}') as mine
     from (select id, sender_id = $1 as mine from messages where id > $2 order by id limit $3) m`,
  ),
  messages: statement(
    'erasure.messages',
    `with gone as (
       update messages set content = '', content_type = 'text', metadata = ${erased}, attachment_count = 0
       where id = any($1) and (content <> '' or metadata <> ${erased} or attachment_count > 0) returning 1
     ), search as (delete from message_search where message_id = any($1))
     select count(*)::int as rows from gone`,
  ),
  files: statement(
    'erasure.files',
    `delete from attachments where id = any(array(select id from attachments where uploader_id = $1 order by id limit $2)) returning storage_key`,
  ),
  uploads: statement('erasure.uploads', 'delete from uploads where uploader_id = $1 returning storage_key'),
  moment: statement('erasure.moment', 'select clock_timestamp()::text as moment'),
  open: statement(
    'erasure.open',
    `select exists (select from pg_stat_activity where datname = current_database() and xact_start < $1::timestamptz
       and application_name = 'ams' and pid <> pg_backend_pid()) as open`,
  ),
};

/** Takes an agent out of the database, but for what others need to keep their order. Every step may run twice. */
export function erasureRepository(db: Queryable) {
  async function count(query: Statement, values: readonly unknown[]): Promise<number> {
    return (await db.query<{ rows: number }>(query, values))[0]?.rows ?? 0;
  }
  return {
    /** Removes what belongs to it alone; answers how many rows of what. */
    async removeOwnedRows(agentId: string): Promise<Record<string, number>> {
      const counts: Record<string, number> = {};
      for (const [name, text] of Object.entries(ownedRows)) {
        const query = `with gone as (${text} returning 1) select count(*)::int as rows from gone`;
        counts[name] = await count(statement(`erasure.${name}`, query), [agentId]);
      }
      return counts;
    },
    async clearCard(agentId: string, now: number): Promise<void> {
      await db.query(statements.card, [agentId, now]);
    },
    /** Removes the oldest lines of its feed; answers how many. */
    removeFeedEntries: (agentId: string, limit: number) => count(statements.feed, [agentId, limit]),
    /** The next messages of everybody, and which of them it sent. */
    async scanMessages(agentId: string, after: string, limit: number) {
      type Look = { after: string | null; examined: number; mine: string[] };
      const [found] = await db.query<Look>(statements.look, [agentId, after, limit]);
      return { examined: found?.examined ?? 0, after: found?.after ?? after, mine: found?.mine ?? [] };
    },
    /** Empties these messages; answers how many were not empty yet. */
    clearMessages: (ids: readonly string[]) => count(statements.messages, [ids]),
    /** Removes files that it uploaded, sent or not; answers where their bytes lie. */
    async removeFiles(agentId: string, limit: number): Promise<string[]> {
      const rows = await db.query<{ storage_key: string }>(statements.files, [agentId, limit]);
      return rows.map(({ storage_key }) => storage_key);
    },
    async removeUploads(agentId: string): Promise<string[]> {
      const rows = await db.query<{ storage_key: string }>(statements.uploads, [agentId]);
      return rows.map(({ storage_key }) => storage_key);
    },
    /** Now, by the clock of the database. */
    async readDatabaseTime(): Promise<string> {
      return (await db.query<{ moment: string }>(statements.moment, []))[0]?.moment ?? '';
    },
    /** Whether a transaction of this service that began before this moment is still open. */
    async hasOpenTransactionSince(moment: string): Promise<boolean> {
      return (await db.query<{ open: boolean }>(statements.open, [moment]))[0]?.open ?? false;
    },
  };
}
