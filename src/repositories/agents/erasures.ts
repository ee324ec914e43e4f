import type { Counts, ErasureStage } from '../../../packages/core/src/domain/agents/erasure-and-export.ts';
import { repository, sql } from '../sql.ts';

export interface ErasureRow {
  id: string;
  agent_id: string;
  handle: string;
  /** The person who requested it; null for an operator. */
  account_id: string | null;
  stage: ErasureStage;
  /** The id of the last message that was examined. */
  looked_after: string;
  /** How many messages, of all agents, were examined. */
  examined: number;
  /** Storage keys of files whose rows are deleted and whose bytes are not. */
  doomed_keys: string[];
  counts: Counts;
  /** Times are in milliseconds. */
  created_at: number;
  updated_at: number;
  done_at: number | null;
}

const columns =
  'id, agent_id, handle, account_id, stage, looked_after, examined, doomed_keys, counts, created_at, updated_at, done_at';

export const erasuresRepository = repository({
  find: sql.row<[id: string], ErasureRow>('erasures.find', `select ${columns} from erasures where id = :id`),
  /** As find, and locks it until the transaction ends. */
  lock: sql.row<[id: string], ErasureRow>(
    'erasures.lock',
    `select ${columns} from erasures where id = :id for update`,
  ),
  /** The latest erasure of an agent. */
  findLast: sql.row<[agentId: string], ErasureRow>(
    'erasures.find_last',
    `select ${columns} from erasures where agent_id = :agent_id order by id desc limit 1`,
  ),
  /** Erasures that a person requested, newest first, with ids before `before` unless it is empty. */
  list: sql.rows<[accountId: string, before: string, limit: number], ErasureRow>(
    'erasures.list(account_id, before, limit)',
    `select ${columns} from erasures where account_id = :account_id and (:before = '' or id < :before) order by id desc limit :limit`,
  ),
  /** Does nothing when an erasure of this agent is in progress. */
  insert: sql.run<[erasure: Pick<ErasureRow, 'id' | 'agent_id' | 'handle' | 'account_id' | 'created_at'>]>(
    'erasures.insert',
    `insert into erasures (id, agent_id, handle, account_id, stage, created_at, updated_at) values (:id, :agent_id, :handle, :account_id, 'belongings', :created_at, :created_at)
     on conflict (agent_id) where done_at is null do nothing`,
  ),
  update: sql.run<[erasure: ErasureRow]>(
    'erasures.update',
    `update erasures set stage = :stage, looked_after = :looked_after, examined = :examined, doomed_keys = :doomed_keys, counts = :counts, updated_at = :updated_at, done_at = :done_at
     where id = :id`,
  ),
});
