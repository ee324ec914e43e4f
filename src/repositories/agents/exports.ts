import type { Counts, ExportStage } from '../../../packages/core/src/domain/agents/erasure-and-export.ts';
import { repository, sql } from '../sql.ts';
import { readByPerson } from './rights.ts';

export interface AgentExportRow {
  id: string;
  agent_id: string;
  handle: string;
  /** The person who requested it; null for an operator. */
  account_id: string | null;
  stage: ExportStage;
  /** As JSON: the section before the conversations that is read, and the key of its last record. */
  belonging: string;
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

const columns = `e.id, e.agent_id, e.handle, e.account_id, e.stage, e.belonging, e.thread_id, e.sequence, e.part_keys, e.counts, e.missing_files,
  e.archive_key, e.size_bytes, e.sha256, e.created_at, e.updated_at, e.done_at, e.expires_at`;

/** Requested by this person, who still has the right to read the agent's messages. */
const isReadableByPerson = `e.account_id = :account_id and exists (select from agents a where a.id = e.agent_id and ${readByPerson(':account_id')})`;

const keys = `e.part_keys || array_remove(array[e.archive_key], null)`;

export const agentExportsRepository = repository({
  find: sql.row<[id: string], AgentExportRow>(
    'agent_exports.find',
    `select ${columns} from agent_exports e where e.id = :id`,
  ),
  /** As find, and locks it until the transaction ends. */
  lock: sql.row<[id: string], AgentExportRow>(
    'agent_exports.lock',
    `select ${columns} from agent_exports e where e.id = :id for update`,
  ),
  /** The latest export of an agent that this person requested; null for an operator. */
  findLast: sql.row<[agentId: string, accountId: string | null], AgentExportRow>(
    'agent_exports.find_last(agent_id, account_id)',
    `select ${columns} from agent_exports e where e.agent_id = :agent_id and e.account_id is not distinct from :account_id order by e.id desc limit 1`,
  ),
  /** An export that the person requested and may read, if it has not expired. */
  findOfPerson: sql.row<[accountId: string, id: string, now: number], AgentExportRow>(
    'agent_exports.find_of_person(account_id, id, now)',
    `select ${columns} from agent_exports e where ${isReadableByPerson} and e.id = :id and e.expires_at > :now`,
  ),
  /** The exports of an agent, or of all agents, newest first, that have not expired. */
  list: sql.rows<[agentId: string | null, now: number, limit: number], AgentExportRow>(
    'agent_exports.list(agent_id, now, limit)',
    `select ${columns} from agent_exports e where (:agent_id::text is null or e.agent_id = :agent_id) and e.expires_at > :now order by e.id desc limit :limit`,
  ),
  /** Returns false, and inserts nothing, when this person has an export of this agent in progress. */
  insert: sql.hasRow<
    [row: Pick<AgentExportRow, 'id' | 'agent_id' | 'handle' | 'account_id' | 'created_at' | 'expires_at'>]
  >(
    'agent_exports.insert',
    `insert into agent_exports (id, agent_id, handle, account_id, stage, created_at, updated_at, expires_at)
       values (:id, :agent_id, :handle, :account_id, 'belongings', :created_at, :created_at, :expires_at)
       on conflict (agent_id, (coalesce(account_id, ''))) where done_at is null do nothing returning id`,
  ),
  update: sql.run<[row: AgentExportRow]>(
    'agent_exports.update',
    `update agent_exports set stage = :stage, belonging = :belonging, thread_id = :thread_id, sequence = :sequence, part_keys = :part_keys, counts = :counts, missing_files = :missing_files, archive_key = :archive_key,
         size_bytes = :size_bytes, sha256 = :sha256, updated_at = :updated_at, done_at = :done_at, expires_at = :expires_at
       where id = :id`,
  ),
  /** Expires the finished exports of an agent that this person requested, except one. */
  expire: sql.run<[agentId: string, accountId: string | null, keptId: string, now: number]>(
    'agent_exports.expire(agent_id, account_id, kept_id, now)',
    `update agent_exports set expires_at = :now
       where agent_id = :agent_id and account_id is not distinct from :account_id and id <> :kept_id and done_at is not null and expires_at > :now`,
  ),
  /** The exports that findOfPerson finds, newest first, with ids before `before` unless it is empty. */
  listOfPerson: sql.rows<
    [accountId: string, page: { before: string; now: number; limit: number }],
    AgentExportRow
  >(
    'agent_exports.list_of_person(account_id, ...)',
    `select ${columns} from agent_exports e where ${isReadableByPerson} and (:before = '' or e.id < :before) and e.expires_at > :now order by e.id desc limit :limit`,
  ),
  /** Removes up to `limit` expired exports; returns the storage keys of each. */
  removeExpired: sql.values<[now: number, limit: number], string[]>(
    'agent_exports.remove_expired(now, limit)',
    `delete from agent_exports e where e.id in (
         select id from agent_exports where expires_at <= :now order by expires_at limit :limit for update skip locked)
       returning ${keys} as keys`,
  ),
  /** Removes all exports of an agent; returns the storage keys of each. */
  removeOfAgent: sql.values<[agentId: string], string[]>(
    'agent_exports.remove_of_agent',
    `delete from agent_exports e where e.agent_id = :agent_id returning ${keys} as keys`,
  ),
  /** Those of these storage keys that are in use. */
  findKeys: sql.values<[keys: readonly string[]], string>(
    'agent_exports.find_keys',
    `select k.key from agent_exports e cross join unnest(${keys}) k (key) where k.key = any(:keys::text[])`,
  ),
});
