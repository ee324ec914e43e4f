import type { Counts, ExportStage } from '../../../packages/core/src/domain/agents/erasure-and-export.ts';
import { createTableCheck, type Queryable, statement, query } from '../queryable.ts';
import { readByPerson } from './rights.ts';

export interface AgentExportRow {
  id: string;
  agent_id: string;
  handle: string;
  /** The person who requested it; null for an operator. */
  account_id: string | null;
  stage: ExportStage;
  /** The last thread that was read, and its last sequence that was read. */
  thread_id: string;
  sequence: number;
  /** Keys in the blob store of the parts written so far, in order. */
  part_keys: string[];
  counts: Counts;
  /** Files whose bytes are missing in the store. */
  missing_files: string[];
  /** Key, size and SHA-256 (hexadecimal) of the archive; null until it is complete. */
  archive_key: string | null;
  size_bytes: number | null;
  sha256: string | null;
  /** Times are in milliseconds. */
  created_at: number;
  updated_at: number;
  done_at: number | null;
  /** When it is removed, complete or not. */
  expires_at: number;
}

const columns = `e.id, e.agent_id, e.handle, e.account_id, e.stage, e.thread_id, e.sequence, e.part_keys, e.counts, e.missing_files,
  e.archive_key, e.size_bytes, e.sha256, e.created_at, e.updated_at, e.done_at, e.expires_at`;

/** Requested by this person, who still has the right to read the agent's messages. */
const isReadableByPerson = `e.account_id = :account_id and exists (select from agents a where a.id = e.agent_id and ${readByPerson(':account_id')})`;

const keys = `e.part_keys || array_remove(array[e.archive_key], null)`;

const statements = {
  find: statement('agent_exports.find', `select ${columns} from agent_exports e where e.id = :id`),
  lock: statement('agent_exports.lock', `select ${columns} from agent_exports e where e.id = :id for update`),
  findLast: statement(
    'agent_exports.find_last',
    `select ${columns} from agent_exports e where e.agent_id = :agent_id and e.account_id is not distinct from :account_id order by e.id desc limit 1`,
  ),
  findOfPerson: statement(
    'agent_exports.find_of_person',
    `select ${columns} from agent_exports e where ${isReadableByPerson} and e.id = :id and e.expires_at > :now`,
  ),
  listOfPerson: statement(
    'agent_exports.list_of_person',
    `select ${columns} from agent_exports e where ${isReadableByPerson} and (:before = '' or e.id < :before) and e.expires_at > :now order by e.id desc limit :limit`,
  ),
  list: statement(
    'agent_exports.list',
    `select ${columns} from agent_exports e where (:agent_id::text is null or e.agent_id = :agent_id) and e.expires_at > :now order by e.id desc limit :limit`,
  ),
  insert: statement(
    'agent_exports.insert',
    `insert into agent_exports (id, agent_id, handle, account_id, stage, created_at, updated_at, expires_at)
     values (:id, :agent_id, :handle, :account_id, 'belongings', :created_at, :created_at, :expires_at)
     on conflict (agent_id, (coalesce(account_id, ''))) where done_at is null do nothing returning id`,
  ),
  update: statement(
    'agent_exports.update',
    `update agent_exports set stage = :stage, thread_id = :thread_id, sequence = :sequence, part_keys = :part_keys, counts = :counts, missing_files = :missing_files, archive_key = :archive_key,
       size_bytes = :size_bytes, sha256 = :sha256, updated_at = :updated_at, done_at = :done_at, expires_at = :expires_at
     where id = :id`,
  ),
  expire: statement(
    'agent_exports.expire',
    `update agent_exports set expires_at = :now
     where agent_id = :agent_id and account_id is not distinct from :account_id and id <> :kept_id and done_at is not null and expires_at > :now`,
  ),
  removeExpired: statement(
    'agent_exports.remove_expired',
    `delete from agent_exports e where e.id in (
       select id from agent_exports where expires_at <= :now order by expires_at limit :limit for update skip locked)
     returning ${keys} as keys`,
  ),
  removeOfAgent: statement(
    'agent_exports.remove_of_agent',
    `delete from agent_exports e where e.agent_id = :agent_id returning ${keys} as keys`,
  ),
  findKeys: statement(
    'agent_exports.find_keys',
    `select k.key from agent_exports e cross join unnest(${keys}) k (key) where k.key = any(:keys)`,
  ),
};

export function agentExportsRepository(db: Queryable) {
  /** Before the migration there are no exports. */
  const tableExists = createTableCheck(db, 'agent_exports');
  return {
    async find(id: string): Promise<AgentExportRow | undefined> {
      return (await query<AgentExportRow>(db, statements.find, { id }))[0];
    },
    /** As find, and locks it until the transaction ends. */
    async lock(id: string): Promise<AgentExportRow | undefined> {
      return (await query<AgentExportRow>(db, statements.lock, { id }))[0];
    },
    /** The latest export of an agent that this person requested; null for an operator. */
    async findLast(agentId: string, accountId: string | null): Promise<AgentExportRow | undefined> {
      return (
        await query<AgentExportRow>(db, statements.findLast, { agent_id: agentId, account_id: accountId })
      )[0];
    },
    /** An export that the person requested and may read, if it has not expired. */
    async findOfPerson(accountId: string, id: string, now: number): Promise<AgentExportRow | undefined> {
      return (
        await query<AgentExportRow>(db, statements.findOfPerson, { account_id: accountId, id, now })
      )[0];
    },
    /** The exports that findOfPerson finds, newest first, with ids before `before` unless it is empty. */
    async listOfPerson(
      accountId: string,
      { before, now, limit }: { before: string; now: number; limit: number },
    ): Promise<AgentExportRow[]> {
      if (!(await tableExists())) return [];
      return query<AgentExportRow>(db, statements.listOfPerson, {
        account_id: accountId,
        before,
        now,
        limit,
      });
    },
    /** The exports of an agent, or of all agents, newest first, that have not expired. */
    list(agentId: string | null, now: number, limit: number): Promise<AgentExportRow[]> {
      return query<AgentExportRow>(db, statements.list, { agent_id: agentId, now, limit });
    },
    /** Returns false, and inserts nothing, when this person has an export of this agent in progress. */
    async insert(
      row: Pick<AgentExportRow, 'id' | 'agent_id' | 'handle' | 'account_id' | 'created_at' | 'expires_at'>,
    ): Promise<boolean> {
      const { id, agent_id, handle, account_id, created_at, expires_at } = row;
      const values = { id, agent_id, handle, account_id, created_at, expires_at };
      return (await query(db, statements.insert, values)).length === 1;
    },
    async update(row: AgentExportRow): Promise<void> {
      const { id, stage, thread_id, sequence, part_keys, missing_files, updated_at } = row;
      const { archive_key, size_bytes, sha256, done_at, expires_at } = row;
      const progress = { stage, thread_id, sequence, part_keys, missing_files, updated_at };
      const archive = { archive_key, size_bytes, sha256, done_at, expires_at };
      const counts = JSON.stringify(row.counts);
      await query(db, statements.update, { id, ...progress, counts, ...archive });
    },
    /** Expires the finished exports of an agent that this person requested, except one. */
    async expire(agentId: string, accountId: string | null, keptId: string, now: number): Promise<void> {
      await query(db, statements.expire, { agent_id: agentId, account_id: accountId, kept_id: keptId, now });
    },
    /** Removes up to `limit` expired exports; returns how many, and their storage keys. */
    async removeExpired(now: number, limit: number): Promise<{ removed: number; keys: string[] }> {
      if (!(await tableExists())) return { removed: 0, keys: [] };
      const rows = await query<{ keys: string[] }>(db, statements.removeExpired, { now, limit });
      return { removed: rows.length, keys: rows.flatMap((row) => row.keys) };
    },
    /** Removes all exports of an agent; returns their storage keys. */
    async removeOfAgent(agentId: string): Promise<string[]> {
      if (!(await tableExists())) return [];
      const rows = await query<{ keys: string[] }>(db, statements.removeOfAgent, { agent_id: agentId });
      return rows.flatMap((row) => row.keys);
    },
    /** Those of these storage keys that are in use. */
    async findKeys(storageKeys: readonly string[]): Promise<string[]> {
      if (!(await tableExists())) return [];
      const rows = await query<{ key: string }>(db, statements.findKeys, { keys: storageKeys });
      return rows.map(({ key }) => key);
    },
  };
}
