import { type Queryable, statement } from '../queryable.ts';

export interface AllowlistRow {
  /** The canonical handle of an agent, or `owner.*`. */
  entry: string;
  created_at: number;
}

const statements = {
  lock: statement('allowlists.lock', `select pg_advisory_xact_lock(hashtextextended('allowlist:' || $1, 0))`),
  count: statement(
    'allowlists.count',
    `select count(*) as entries from allowlist_entries where agent_id = $1`,
  ),
  find: statement(
    'allowlists.find',
    `select entry, created_at from allowlist_entries where agent_id = $1 and entry = $2`,
  ),
  list: statement(
    'allowlists.list',
    `select entry, created_at from allowlist_entries where agent_id = $1 and ($2::text is null or entry > $2)
     order by entry limit $3`,
  ),
  insert: statement(
    'allowlists.insert',
    `insert into allowlist_entries (agent_id, entry, created_at) values ($1, $2, $3)`,
  ),
  remove: statement(
    'allowlists.remove',
    `delete from allowlist_entries where agent_id = $1 and entry = $2 returning entry`,
  ),
};

/** Whom an agent lets write to it under the policy `allowlist`. An entry need not name anybody who exists. */
export function allowlistsRepository(db: Queryable) {
  return {
    /** Holds the list of an agent until the transaction ends. Only what is read after it is certain. */
    async lock(agentId: string): Promise<void> {
      await db.query(statements.lock, [agentId]);
    },
    async count(agentId: string): Promise<number> {
      return (await db.query<{ entries: number }>(statements.count, [agentId]))[0]?.entries ?? 0;
    },
    async find(agentId: string, entry: string): Promise<AllowlistRow | undefined> {
      return (await db.query<AllowlistRow>(statements.find, [agentId, entry]))[0];
    },
    /** In the order of the entries, behind `after`. */
    list(agentId: string, page: { after: string | null; limit: number }): Promise<AllowlistRow[]> {
      return db.query<AllowlistRow>(statements.list, [agentId, page.after, page.limit]);
    },
    async insert(agentId: string, { entry, created_at }: AllowlistRow): Promise<void> {
      await db.query(statements.insert, [agentId, entry, created_at]);
    },
    /** Whether there was such an entry. */
    async remove(agentId: string, entry: string): Promise<boolean> {
      return (await db.query(statements.remove, [agentId, entry])).length > 0;
    },
  };
}
