import { repository, sql } from '../sql.ts';

export interface AllowlistRow {
  /** The canonical handle of an agent, or `owner.*`. */
  entry: string;
  created_at: number;
}

/** The agents that may write to an agent with the policy `allowlist`. An entry can name an agent that does not exist. */
export const allowlistsRepository = repository({
  /** Locks the list of an agent until the transaction ends. Read the list after this. */
  lock: sql.run<[agentId: string]>(
    'allowlists.lock',
    `select pg_advisory_xact_lock(hashtextextended('allowlist:' || :agent_id, 0))`,
  ),
  count: sql.value<[agentId: string], number>(
    'allowlists.count',
    `select count(*) as count from allowlist_entries where agent_id = :agent_id`,
  ),
  find: sql.row<[agentId: string, entry: string], AllowlistRow>(
    'allowlists.find(agent_id, entry)',
    `select entry, created_at from allowlist_entries where agent_id = :agent_id and entry = :entry`,
  ),
  /** Entries in alphabetical order, after `after` unless it is null. */
  list: sql.rows<[agentId: string, page: { after: string | null; limit: number }], AllowlistRow>(
    'allowlists.list(agent_id, ...)',
    `select entry, created_at from allowlist_entries where agent_id = :agent_id and (:after::text is null or entry > :after)
     order by entry limit :limit`,
  ),
  insert: sql.run<[agentId: string, allowlistRow: AllowlistRow]>(
    'allowlists.insert(agent_id, ...)',
    `insert into allowlist_entries (agent_id, entry, created_at) values (:agent_id, :entry, :created_at) /* no version: it only permits */`,
  ),
  /** Returns false when there is no such entry. */
  remove: sql.hasRow<[agentId: string, entry: string]>(
    'allowlists.remove(agent_id, entry)',
    `delete from allowlist_entries where agent_id = :agent_id and entry = :entry returning agent_id as raised_id`,
  ),
});
