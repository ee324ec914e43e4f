import { type Queryable, statement } from '../queryable.ts';

export interface AllowlistRow {
  /** The canonical handle of an agent, or `owner.*`. */
  entry: string;
  created_at: number;
}

const statements = {
  lock: statement('allowlists.lock', `select pg_advisory_xact_lock(hashtextextended('allowlist:' || $1, 0))`),
  count: statement('allowlists.count', `select count(*) as count from allowlist_entries where agent_id = $1`),
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
    `insert into allowlist_entries (agent_id, entry, created_at) values ($1, $2, $3) /* no version: it only permits */`,
  ),
  remove: statement(
    'allowlists.remove',
    `delete from allowlist_entries where agent_id = $1 and entry = $2 returning agent_id as raised_id`,
  ),
};

/** The agents that may write to an agent with the policy `allowlist`. An entry can name an agent that does not exist. */
export function allowlistsRepository(db: Queryable) {
  return {
    /** Locks the list of an agent until the transaction ends. Read the list after this. */
    async lock(agentId: string): Promise<void> {
      await db.query(statements.lock, [agentId]);
    },
    async count(agentId: string): Promise<number> {
      return (await db.query<{ count: number }>(statements.count, [agentId]))[0]?.count ?? 0;
    },
    async find(agentId: string, entry: string): Promise<AllowlistRow | undefined> {
      return (await db.query<AllowlistRow>(statements.find, [agentId, entry]))[0];
    },
    /** Entries in alphabetical order, after `after` unless it is null. */
    list(agentId: string, page: { after: string | null; limit: number }): Promise<AllowlistRow[]> {
      return db.query<AllowlistRow>(statements.list, [agentId, page.after, page.limit]);
    },
    async insert(agentId: string, { entry, created_at }: AllowlistRow): Promise<void> {
      await db.query(statements.insert, [agentId, entry, created_at]);
    },
    /** Returns false when there is no such entry. */
    async remove(agentId: string, entry: string): Promise<boolean> {
      return (await db.query(statements.remove, [agentId, entry])).length > 0;
    },
  };
}
